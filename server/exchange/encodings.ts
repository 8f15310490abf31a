/** Compression that an upstream may apply although Sluice asks for none. */
export type Encoding = 'gzip' | 'deflate' | 'br';

const byName: Record<string, Encoding> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br' };

/**
 * Null if the response is not compressed, or in an unknown way: then it is read as it is and treated as damaged if it
 * makes no sense.
 */
export function encodingOf(headers: Readonly<Record<string, unknown>>): Encoding | null {
  const name = headers['content-encoding'];
  return typeof name === 'string' ? (byName[name.trim().toLowerCase()] ?? null) : null;
}
