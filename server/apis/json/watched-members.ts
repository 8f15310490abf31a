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
  /** By depth and the first two letters of the key; some places are those of several. */
  readonly #places = new Array<Watched[] | undefined>(placeCount).fill(undefined);

  /** At most 31, each of which has the bit of its index. */
  constructor(members: readonly WatchedMember[]) {
    for (const [index, { name, depth, value }] of members.entries()) {
      const watched = {
        key: Buffer.from(`"${name}"`),
        value: value === undefined ? null : Buffer.from(value),
        bit: 1 << index,
      };
      const place = placeOf(depth, name.charCodeAt(0), name.charCodeAt(1));
      this.#places[place] = [...(this.#places[place] ?? []), watched];
    }
  }

  search(body: Buffer): WatchedSearch {
    return new WatchedSearch(body, this.#places);
  }
}

/** The watched members of one document. Looks at each key inside it, so a key that is not watched is passed over at once. */
export class WatchedSearch {
  /** Of those that were found. */
  bits = 0;
  readonly #body: Buffer;
  readonly #places: readonly (readonly Watched[] | undefined)[];

  constructor(body: Buffer, places: readonly (readonly Watched[] | undefined)[]) {
    this.#body = body;
    this.#places = places;
  }

  /** A key, which begins at `start` with its quote. */
  key(start: number, valueStart: number, depth: number): void {
    const body = this.#body;
    const alike = this.#places[placeOf(depth, body[start + 1] ?? 0, body[start + 2] ?? 0)];
    if (alike === undefined) return;
    for (const { key, value, bit } of alike) {
      if ((this.bits & bit) !== 0 || (value !== null && !isAt(body, valueStart, value))) continue;
      if (isAt(body, start, key)) this.bits |= bit;
    }
  }
}

const placeOf = (depth: number, first: number, second: number) => (depth << 10) | ((first & 31) << 5) | (second & 31);
const placeCount = 5 << 10;

/** From the end, because beginnings are alike. */
function isAt(body: Buffer, at: number, wanted: Buffer): boolean {
  for (let index = wanted.length - 1; index >= 0; index--) if (body[at + index] !== wanted[index]) return false;
  return true;
}
