/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
/** Longer than any real header; a longer one is not parsed. */
const maxLength = 4_096;

interface HeaderParameters {
  /** By name in lower case, without quotes and escapes; the first of a repeated one. */
  values: Map<string, string>;
  /** The first repeated name; null if none. Python's email parser takes the first value of a repeated one, its `cgi` module the last. */
  repeated: string | null;
  /** The unparsed rest from the first malformed parameter on; empty if there is none. */
  rest: string;
}

export function headerParameters(header: string): HeaderParameters {
  const values = new Map<string, string>();
  const semicolon = header.indexOf(';');
  if (semicolon === -1 || header.length > maxLength)
    return { values, repeated: null, rest: semicolon === -1 ? '' : header };
  let repeated: string | null = null;
  let end = semicolon;
  parameter.lastIndex = semicolon;
  for (let match = parameter.exec(header); match !== null; match = parameter.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    if (values.has(name)) repeated ??= name;
    else values.set(name, match[3] ?? (match[2] ?? '').replace(/\\(["\\])/g, '$1'));
    end = parameter.lastIndex;
  }
  return { values, repeated, rest: header.slice(end).trim() };
}
