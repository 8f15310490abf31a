import { createHash } from 'node:crypto';
import type { JsonField } from '../wire/json/json-peek.ts';

/** Top-level fields that say nothing of what is asked, and that a program may fill anew each time. */
export const volatileFields: readonly string[] = [
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
  'seed',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'user',
];

/** Of a longer piece only the ends are read: a conversation grows at its end, and its length counts too. */
const wholeBytes = 32 * 1024;

/** The same for two JSON bodies that ask the same thing in the same words. `fields`: where the volatile ones stand. */
export function promptFingerprint(body: Buffer, fields: ReadonlyMap<string, JsonField>): string {
  const volatile = volatileFields.map((name) => fields.get(name)).filter((field) => field !== undefined);
  const left = volatile.sort((a, b) => a.start - b.start);
  const digest = createHash('sha1');
  let from = 0;
  for (const { start, end } of [...left, { start: body.length, end: body.length }]) {
    const piece = body.subarray(from, start);
    if (piece.length <= wholeBytes) digest.update(piece);
    else
      digest
        .update(piece.subarray(0, wholeBytes / 2))
        .update(String(piece.length))
        .update(piece.subarray(-wholeBytes / 2));
    from = end;
  }
  return digest.digest('base64');
}
