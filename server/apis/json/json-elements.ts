import type { ByteRange } from './json-scan.ts';
import { skipSpace } from './json-tokens.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openers = new Set<number | undefined>([0x5b, 0x7b]);
const closers = new Set<number | undefined>([0x5d, 0x7d]);

/** Ranges of the list elements that end within the first `maxBytes`. `list`: valid JSON from `[` to `]`. */
export function* beginningOfList(list: Buffer, maxBytes: number): Generator<ByteRange, void, undefined> {
  const limit = Math.min(list.length, maxBytes);
  let depth = 0;
  let start = skipSpace(list, 1);
  for (let at = start; at < limit; at++) {
    const byte = list[at];
    if (byte === quote) at = endOfString(list, at + 1, limit);
    else if (openers.has(byte)) depth++;
    else if (closers.has(byte)) depth--;
    if (depth === -1 && at > start) yield { start, end: at };
    if (depth === -1) return;
    if (depth > 0 || byte !== comma) continue;
    yield { start, end: at };
    start = skipSpace(list, at + 1);
  }
}

/** Offset of its closing quote. */
function endOfString(list: Buffer, from: number, limit: number): number {
  let at = from;
  while (at < limit && list[at] !== quote) at += list[at] === backslash ? 2 : 1;
  return at;
}
