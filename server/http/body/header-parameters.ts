/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
/** Longer than any real header; what is longer is not looked at. */
const maxLength = 4_096;

export interface HeaderParameters {
  /** By lower-case name, quotes and escapes taken off; of a repeated one the first. */
  values: Map<string, string>;
  /** The first name that occurs again; null if none does. Some parsers take the first value, others the last. */
  repeated: string | null;
  /** Whether the header is well-formed to its end. What follows a malformed parameter is left out. */
  isWhole: boolean;
}

export function headerParameters(header: string): HeaderParameters {
  const values = new Map<string, string>();
  const semicolon = header.indexOf(';');
  if (semicolon === -1 || header.length > maxLength) return { values, repeated: null, isWhole: semicolon === -1 };
  let repeated: string | null = null;
  let end = semicolon;
  parameter.lastIndex = semicolon;
  for (let match = parameter.exec(header); match !== null; match = parameter.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    if (values.has(name)) repeated ??= name;
    else values.set(name, match[3] ?? (match[2] ?? '').replace(/\\(["\\])/g, '$1'));
    end = parameter.lastIndex;
  }
  return { values, repeated, isWhole: header.slice(end).trim() === '' };
}
