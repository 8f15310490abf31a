/**
 * Members of a JSON body that deserve a second look: in its lists, such as `messages[].reasoning_content`, and anywhere those
 * that name stored objects. The scan of the body only notes which of them it met, so that bodies without them cost nothing more.
 */
import { addressText, idHolder, idText, type MemberMeanings } from './member-meanings.ts';

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

const quote = 0x22;
const openArray = 0x5b;
const openObject = 0x7b;
/** What the text of an address begins with that holds its bytes itself. */
const dataMark = Buffer.from('"data:');

export class WatchedMembers {
  readonly #objects: MemberMeanings | null;
  /** By depth and the first two letters of the key; some places are those of several. */
  readonly #places = new Array<Watched[] | undefined>(placeCount).fill(undefined);

  /** `members`: at most 31, each of which has the bit of its index. `objects`: those that name stored objects. */
  constructor(members: readonly WatchedMember[], objects: MemberMeanings | null = null) {
    this.#objects = objects;
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
    return new WatchedSearch(body, this.#places, this.#objects);
  }
}

/** The watched members of one document. Looks at each key inside it, so a key that is not watched is passed over at once. */
export class WatchedSearch {
  /** Of those that were found. */
  bits = 0;
  /** A member may name a stored object. */
  namesObjects = false;
  readonly #body: Buffer;
  readonly #places: readonly (readonly Watched[] | undefined)[];
  readonly #objects: MemberMeanings | null;

  constructor(body: Buffer, places: readonly (readonly Watched[] | undefined)[], objects: MemberMeanings | null) {
    this.#body = body;
    this.#places = places;
    this.#objects = objects;
  }

  /** A plain key from `start` to `end`, with its quotes. */
  key(start: number, end: number, valueStart: number, depth: number): void {
    if (this.#objects?.mayHave(this.#body, start + 1, end - 1)) this.oddKey(start, end, valueStart);
    if (depth > innermostDepth) return;
    const body = this.#body;
    const alike = this.#places[placeOf(depth, body[start + 1] ?? 0, body[start + 2] ?? 0)];
    if (alike === undefined) return;
    for (const { key, value, bit } of alike) {
      if ((this.bits & bit) !== 0 || (value !== null && !isAt(body, valueStart, value))) continue;
      if (isAt(body, start, key)) this.bits |= bit;
    }
  }

  /** A key in any spelling: whether it names an object. */
  oddKey(start: number, end: number, valueStart: number): void {
    if (this.namesObjects || this.#objects === null) return;
    const meaning = this.#objects.of(this.#body, start + 1, end - 1, false);
    if (meaning !== 0) this.namesObjects = mayName(this.#body, valueStart, meaning);
  }
}

function mayName(body: Buffer, at: number, meaning: number): boolean {
  const first = body[at];
  if (first === openArray) return true;
  if (first === openObject) return (meaning & idHolder) !== 0;
  if (first !== quote) return false;
  return (meaning & idText) !== 0 || ((meaning & addressText) !== 0 && !isAt(body, at, dataMark));
}

/** Deep enough for `tools[].function.strict`. */
const innermostDepth = 4;
const placeOf = (depth: number, first: number, second: number) => (depth << 10) | ((first & 31) << 5) | (second & 31);
const placeCount = 5 << 10;

/** From the end, because beginnings are alike. */
function isAt(body: Buffer, at: number, wanted: Buffer): boolean {
  for (let index = wanted.length - 1; index >= 0; index--) if (body[at + index] !== wanted[index]) return false;
  return true;
}
