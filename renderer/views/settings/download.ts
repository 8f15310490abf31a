/** Gives the person a file with this value as JSON. */
export function downloadJson(fileName: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser takes hold of the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
