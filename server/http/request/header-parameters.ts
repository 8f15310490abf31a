/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))`, 'y');

/**
 * Parameters by lower-case name, quotes and escapes taken off; the first of a repeated one counts. What follows a
 * malformed parameter is left out.
 */
export function headerParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const semicolon = header.indexOf(';');
  PARAMETER.lastIndex = semicolon === -1 ? header.length : semicolon;
  for (let match = PARAMETER.exec(header); match !== null; match = PARAMETER.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    const value = match[3] ?? (match[2] ?? '').replace(/\\(["\\])/g, '$1');
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}
