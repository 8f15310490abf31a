/** Identifiers and digests. */
import { createHash, randomBytes } from 'node:crypto';

/** A random id in the way of OpenAI's: `chatcmpl-…`, `resp_…`. */
export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('hex');
}

/** Sixteen bytes that depend on nothing but the text: whatever looks random in the demo's pictures comes from here. */
export function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, 16);
}
