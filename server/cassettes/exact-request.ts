/**
 * A fast look-up of recordings: most clients serialise JSON as `JSON.stringify` does, so the bytes of their requests
 * are known when a cassette is read.
 */
import { createHash } from 'node:crypto';
import type { RecordedRequest } from './format.ts';

/** Hash of the bytes that a client sent. */
export function exactHash(method: string, url: string, body: Buffer | string | null): string {
  return createHash('sha256')
    .update(`${method} ${url}\n`)
    .update(body ?? '')
    .digest('base64');
}

/** Hash of the bytes that a client probably sends for this request; null for forms and other bytes. */
export function exactHashOf({ method, path, body }: RecordedRequest): string | null {
  if (body === null) return exactHash(method, path, null);
  return 'json' in body ? exactHash(method, path, JSON.stringify(body.json)) : null;
}
