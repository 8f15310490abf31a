import { parseJson } from './json-path.ts';

/** Reads an event stream in pieces and passes on the JSON of each complete `data:` line. Ignores other lines. */
export function createDataLineReader(
  onData: (data: unknown) => void,
  onDone: () => void = () => {},
): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data === '[DONE]') onDone();
      else if (data.startsWith('{')) onData(parseJson(data));
    }
  };
}
