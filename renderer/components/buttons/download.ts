/** Downloads the value as a JSON file. */
export function downloadJson(fileName: string, value: unknown): void {
  download(fileName, 'application/json', `${JSON.stringify(value, null, 2)}\n`);
}

/** As JSON Lines. */
export function downloadLines(fileName: string, values: readonly unknown[]): void {
  download(fileName, 'application/jsonl', values.map((value) => `${JSON.stringify(value)}\n`).join(''));
}

function download(fileName: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // By then the browser has opened the file.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
