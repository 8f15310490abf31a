/** Takes the pieces of an event stream and tells the JSON of every whole `data:` line; other lines and `[DONE]` are passed over. */
export function createDataLineReader(onData: (data: unknown) => void): (piece: string) => void {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data.startsWith('{')) onData(JSON.parse(data));
    }
  };
}
