/** Identifiers and digests. */
import { createHash, randomBytes } from 'node:crypto';

/** A random id in OpenAI's form: `chatcmpl-…`, `resp_…`. */
export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('hex');
}

/** The first 16 bytes of the SHA-256 hash. */
export function digest(content: string | Uint8Array): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, 16);
}
