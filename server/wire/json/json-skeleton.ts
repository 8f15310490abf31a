/**
 * Whether the brackets of a JSON object match, found by native searches for them: nearly nothing for long lists of
 * numbers. Brackets in strings are not told from others, so only `closed` and `open` say something, and not for certain.
 */

/** `closed`: the last bracket is that of the first. `open`: it would have to come yet. `broken`: neither, or too many. */
export type Skeleton = 'closed' | 'open' | 'broken';

const closerOf = new Map([
  [0x7b, 0x7d],
  [0x5b, 0x5d],
]);
/** More than eight megabytes of vectors have; beyond it a search for each costs more than to go through all. */
const mostBrackets = 100_000;
/** Of blanks at the end. */
const mostBlanks = 64;

export function skeletonOf(body: Buffer): Skeleton {
  const next = [...closerOf].flat().map((byte) => ({ byte, at: offsetOf(body, byte, 0) }));
  const closers: number[] = [];
  for (let brackets = 0; brackets < mostBrackets; brackets++) {
    const nearest = next.reduce((first, other) => (other.at < first.at ? other : first));
    if (nearest.at === body.length) return 'open';
    const closer = closerOf.get(nearest.byte);
    if (closer !== undefined) closers.push(closer);
    else if (closers.pop() !== nearest.byte) return 'broken';
    if (closers.length === 0) return isLast(body, nearest.at) ? 'closed' : 'broken';
    nearest.at = offsetOf(body, nearest.byte, nearest.at + 1);
  }
  return 'broken';
}

function offsetOf(body: Buffer, byte: number, from: number): number {
  const at = body.indexOf(byte, from);
  return at === -1 ? body.length : at;
}

function isLast(body: Buffer, at: number): boolean {
  return body.length - at <= mostBlanks && body.toString('latin1', at + 1).trim() === '';
}
