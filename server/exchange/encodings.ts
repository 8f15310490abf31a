import type { ResponseHeaders } from '../transport/transport.ts';

/** How a reply may be compressed although it was asked not to be. */
export type Encoding = 'gzip' | 'deflate' | 'br';

const byName: Record<string, Encoding> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br' };

/** Null where it is not, or in no way that is known here: then it is read as it is, and is damaged if that makes no sense. */
export function encodingOf(headers: ResponseHeaders): Encoding | null {
  const name = headers['content-encoding'];
  return typeof name === 'string' ? (byName[name.trim().toLowerCase()] ?? null) : null;
}
