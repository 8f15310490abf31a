/**
 * Commas before a closing bracket, which JSON does not have, but Google's parser and its examples do. They are blanked, so
 * that all offsets stay as they are.
 */
import { yieldToEventLoop } from '../../ground/yield-to-event-loop.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const blank = 0x20;
/** Between two turns of the event loop. */
const sliceBytes = 256 * 1024;

/** A copy of the body without them; null if it has none. Other faults are left in it. */
export async function withoutTrailingCommas(body: Buffer): Promise<Buffer | null> {
  let copy: Buffer | null = null;
  let isInString = false;
  /** Of the last byte that was no blank, if it is a comma after a value. */
  let commaAt = -1;
  let isAfterValue = false;
  let nextPause = sliceBytes;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (isInString) {
      if (byte === backslash) at++;
      else if (byte === quote) isInString = false;
      continue;
    }
    if (byte <= blank) continue;
    if (isClosing(byte) && commaAt !== -1) {
      copy ??= Buffer.from(body);
      copy[commaAt] = blank;
    }
    commaAt = byte === comma && isAfterValue ? at : -1;
    isAfterValue = !startsOrSeparates.has(byte);
    isInString = byte === quote;
    if (at < nextPause) continue;
    nextPause = at + sliceBytes;
    await yieldToEventLoop();
  }
  return copy;
}

/** `[`, `{`, `:` and `,`, which no value ends in. */
const startsOrSeparates = new Set([0x5b, 0x7b, 0x3a, comma]);

/** `]` or `}`. */
function isClosing(byte: number): boolean {
  return byte === 0x5d || byte === 0x7d;
}
