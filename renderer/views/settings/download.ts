/** Gives the person a file with this value as JSON. */
export function downloadJson(fileName: string, value: unknown): void {
  download(fileName, 'application/json', `${JSON.stringify(value, null, 2)}\n`);
}

/** As JSON, one value on a line. */
export function downloadLines(fileName: string, values: readonly unknown[]): void {
  download(fileName, 'application/jsonl', values.map((value) => `${JSON.stringify(value)}\n`).join(''));
}

function download(fileName: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser takes hold of the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
