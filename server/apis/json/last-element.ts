import type { ByteRange } from './json-scan.ts';
import { isEscaped } from './json-tokens.ts';

const quote = 0x22;
const comma = 0x2c;
const openers = new Set<number | undefined>([0x5b, 0x7b]);
const closers = new Set<number | undefined>([0x5d, 0x7d]);

/** What may be read of an element: its length, and the bytes outside of texts with the quotes within them. */
interface ElementLimits {
  maxBytes?: number;
  maxSteps?: number;
}

/**
 * The range of a list's last element, with surrounding white space; null if the list is empty, or the element exceeds the
 * limits. Reads backwards, so the cost depends on the element and not on the list. `list`: valid JSON from `[` to `]`.
 */
export function lastElement(
  list: Buffer,
  { maxBytes = Number.POSITIVE_INFINITY, maxSteps = Number.POSITIVE_INFINITY }: ElementLimits,
): ByteRange | null {
  const end = list.length - 1;
  const first = Math.max(0, end - maxBytes);
  const walk = { leftSteps: maxSteps };
  let depth = 0;
  for (let at = end - 1; at > first; at--) {
    if (--walk.leftSteps < 0) return null;
    const byte = list[at];
    if (byte === quote) at = openingQuote(list, at, walk);
    else if (closers.has(byte)) depth++;
    else if (openers.has(byte)) depth--;
    else if (byte === comma && depth === 0) return { start: at + 1, end };
  }
  return first > 0 || list.subarray(1, end).toString('latin1').trim() === '' ? null : { start: 1, end };
}

/** The ranges of a list's elements from the last one on, as long as they are no longer than `maxBytes` together. */
export function* elementsFromEnd(list: Buffer, maxBytes: number): Generator<ByteRange, void, undefined> {
  let rest = list;
  let leftBytes = maxBytes;
  for (;;) {
    const element = lastElement(rest, { maxBytes: leftBytes });
    if (!element) return;
    yield element;
    leftBytes -= element.end - element.start;
    // The rest ends with the comma before the element, which takes the place of the closing bracket.
    rest = rest.subarray(0, element.start);
  }
}

/** Offset of the quote that opens the string which `closing` ends, unless it has more quotes than steps are left. */
function openingQuote(list: Buffer, closing: number, walk: { leftSteps: number }): number {
  let at = closing - 1;
  while (at > 0 && walk.leftSteps-- > 0) {
    at = list.lastIndexOf(quote, at);
    if (at <= 0 || !isEscaped(list, 0, at)) break;
    at--;
  }
  return at;
}

/** Longer values are not names. */
const maxBytes = 256;

/** The text of a JSON string in `bytes`; null if there is none, it is another value, or it is long. */
export function shortText(bytes: Buffer, range: ByteRange | undefined): string | null {
  if (!range || range.end - range.start > maxBytes) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', range.start, range.end));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
