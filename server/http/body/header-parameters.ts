/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`\\s*;\\s*(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');

/**
 * Parameters by lower-case name, quotes and escapes taken off; the first of a repeated one counts. What follows a
 * malformed parameter is left out.
 */
export function headerParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const semicolon = header.indexOf(';');
  parameter.lastIndex = semicolon === -1 ? header.length : semicolon;
  for (let match = parameter.exec(header); match !== null; match = parameter.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    const value = match[3] ?? (match[2] ?? '').replace(/\\(["\\])/g, '$1');
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}
