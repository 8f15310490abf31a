/**
 * Members inside the lists of a JSON body that deserve a second look, such as `messages[].reasoning_content`. The scan of the
 * body only notes which of them it met, so that bodies without them cost nothing more.
 */

/** `value`: what the value begins with; absent: any value. */
export interface WatchedMember {
  /** In ASCII. A key that is spelled with escapes is not found. */
  name: string;
  /** 3: a member of the objects in a top-level list; 4: of an object in these. */
  depth: 3 | 4;
  value?: string;
}

interface Watched {
  /** With its quotes. */
  key: Buffer;
  value: Buffer | null;
  bit: number;
}

export class WatchedMembers {
  /** By depth and by the first letter of the key. */
  readonly #byLetter = new Map<number, Watched[]>();

  /** At most 31, each of which has the bit of its index. */
  constructor(members: readonly WatchedMember[]) {
    for (const [index, { name, depth, value }] of members.entries()) {
      const watched = {
        key: Buffer.from(`"${name}"`),
        value: value === undefined ? null : Buffer.from(value),
        bit: 1 << index,
      };
      const place = placeOf(depth, name.charCodeAt(0));
      this.#byLetter.set(place, [...(this.#byLetter.get(place) ?? []), watched]);
    }
  }

  /** The bits of those that this key, which begins at `start` with its quote, and its value are. */
  bitsOf(body: Buffer, start: number, valueStart: number, depth: number): number {
    const alike = this.#byLetter.get(placeOf(depth, body[start + 1] ?? 0));
    if (!alike) return 0;
    let bits = 0;
    for (const { key, value, bit } of alike)
      if (isAt(body, start, key) && (value === null || isAt(body, valueStart, value))) bits |= bit;
    return bits;
  }
}

const placeOf = (depth: number, letter: number) => depth * 256 + letter;

function isAt(body: Buffer, at: number, wanted: Buffer): boolean {
  for (let index = 0; index < wanted.length; index++) if (body[at + index] !== wanted[index]) return false;
  return true;
}
