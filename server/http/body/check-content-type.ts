/**
 * The parameters of headers such as `Content-Type`, and content types whose parameters readers could take differently.
 */
import { GatewayError } from '../../contract/errors.ts';

/** The encodings in which all parsers agree on names and values. */
const plainCharsets = new Set(['utf-8', 'utf8', 'us-ascii']);

export function isPlainCharset(charset: string): boolean {
  return plainCharsets.has(charset.toLowerCase());
}

/**
 * Refuses a content type with a repeated parameter, such as two boundaries: of these the upstream may choose the other one
 * and read a different form.
 */
export function checkContentType(contentType: string | undefined): void {
  if (!contentType?.includes(';')) return;
  const { values, repeated } = headerParameters(contentType);
  const doubled = repeated ?? [...values.keys()].find((name) => name.startsWith('boundary*')) ?? null;
  if (doubled === null) return;
  throw new GatewayError('invalid_value', `The content type names its parameter "${doubled.slice(0, 100)}" twice.`, {
    param: 'content-type',
  });
}

/**
 * Refuses forms in other encodings: Django decodes forms by this charset (`HttpRequest.encoding`), so `+AG0-odel` in UTF-7 would be
 * `model`.
 */
export function checkFormCharset(contentType: string): void {
  const { values } = headerParameters(contentType);
  const isExtended = [...values.keys()].some((name) => name.startsWith('charset*'));
  if (!isExtended && isPlainCharset(values.get('charset') ?? 'utf-8')) return;
  throw new GatewayError(
    'invalid_value',
    'The content type names a charset that is not UTF-8. Send the form in UTF-8.',
    {
      param: 'content-type',
    },
  );
}

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

/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */
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
