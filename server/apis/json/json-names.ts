/**
 * Names of top-level keys to look for, and how a key may spell one of them. Parsers differ: Go's `encoding/json`
 * ignores case (documented at `Unmarshal`) and folds `ſ` to s and the Kelvin sign to k; others accept escapes that JSON
 * does not define.
 */

const backslash = 0x5c;
const underscore = 0x5f;
/** Length of the longest spelling of one character: `\u006d`. */
const escapedLength = 6;

interface Spelling {
  name: string;
  /** `JSON.parse` reads it as the name. */
  isSame: boolean;
  /** Spelled letter by letter, so that all parsers agree. */
  isPlain: boolean;
}

export class JsonNames {
  /** Plain spellings, by length. */
  readonly #byLength: Spelling[][] = [];
  readonly #byName = new Map<string, Spelling>();
  readonly #maxKeyBytes: number;

  /** `names` consist of lowercase ASCII letters and underscores; of others only the plain spelling is found. */
  constructor(names: readonly string[]) {
    for (const name of names) {
      const spelling = { name, isSame: true, isPlain: true };
      this.#byName.set(name, spelling);
      const alike = this.#byLength[name.length];
      if (alike) alike.push(spelling);
      else this.#byLength[name.length] = [spelling];
    }
    this.#maxKeyBytes = Math.max(0, ...names.map((name) => name.length)) * escapedLength;
  }

  /** How the key between `start` and `end` spells one of the names; undefined if it is another key. */
  find(body: Buffer, start: number, end: number): Spelling | undefined {
    if (end - start > this.#maxKeyBytes) return undefined;
    const alike = this.#byLength[end - start];
    if (alike) {
      for (const spelling of alike) {
        const likeness = compare(body, start, spelling.name);
        if (likeness === 'same') return spelling;
        if (likeness === 'other case') return { ...spelling, isSame: false, isPlain: false };
      }
    }
    return hasOddity(body, start, end) ? this.#findSpelled(body.toString('utf8', start, end)) : undefined;
  }

  #findSpelled(key: string): Spelling | undefined {
    const { text, isSound } = decode(key);
    const exact = this.#byName.get(text);
    // Both directions, so that characters that only fold to a letter become that letter.
    const found = exact ?? this.#byName.get(text.toUpperCase().toLowerCase());
    return found && { name: found.name, isSame: exact !== undefined && isSound, isPlain: false };
  }
}

/** Reads invalid escapes as lenient parsers do, `\l` as l; the result is then not sound. */
function decode(key: string): { text: string; isSound: boolean } {
  let text = '';
  let isSound = true;
  for (let at = 0; at < key.length; at++) {
    if (key[at] !== '\\') {
      text += key[at];
      continue;
    }
    at++;
    const code = key[at] === 'u' ? Number(`0x${key.slice(at + 1, at + 5)}`) : Number.NaN;
    isSound &&= !Number.isNaN(code);
    text += Number.isNaN(code) ? (key[at] ?? '') : String.fromCharCode(code);
    if (!Number.isNaN(code)) at += 4;
  }
  return { text, isSound };
}

function compare(body: Buffer, start: number, name: string): 'same' | 'other case' | 'different' {
  let isSame = true;
  for (let index = 0; index < name.length; index++) {
    const byte = body[start + index] ?? 0;
    const wanted = name.charCodeAt(index);
    if (byte === wanted) continue;
    if ((byte | 0x20) !== wanted || wanted === underscore) return 'different';
    isSame = false;
  }
  return isSame ? 'same' : 'other case';
}

/** Escapes or non-ASCII bytes. */
function hasOddity(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at] ?? 0;
    if (byte === backslash || byte > 0x7f) return true;
  }
  return false;
}

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

/**
 * Members of a JSON body that deserve a second look: in its lists, such as `messages[].reasoning_content`, and anywhere
 * those that name stored objects. The scan of the body only notes which of them it met, so that bodies without them
 * cost nothing more.
 */
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
      const place = bucketOf(depth, name.charCodeAt(0), name.charCodeAt(1));
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
    const alike = this.#places[bucketOf(depth, body[start + 1] ?? 0, body[start + 2] ?? 0)];
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
const bucketOf = (depth: number, first: number, second: number) => (depth << 10) | ((first & 31) << 5) | (second & 31);
const placeCount = 5 << 10;

/** From the end, because beginnings are alike. */
function isAt(body: Buffer, at: number, wanted: Buffer): boolean {
  for (let index = wanted.length - 1; index >= 0; index--) if (body[at + index] !== wanted[index]) return false;
  return true;
}

/** Names of members, in lower case; they are found in any case and spelling. */
interface MemberKinds {
  /** Whose text, or each text of their list, is an id, or a path that ends with one. */
  ids: readonly string[];
  /** Whose text, or each text of their list, may be the address of a stored file. */
  addresses: readonly string[];
  /** Whose object, or each object of their list, is meant by its `id`. */
  holders: readonly string[];
}

/** Bits. */
export const idText = 1;
export const addressText = 2;
export const idHolder = 4;
/** The name is `id`, which counts in a held object. */
const ownId = 8;

/** What the members of a document are for the search of ids. */
export class MemberMeanings {
  readonly #meanings = new Map<string, number>([['id', ownId]]);
  readonly #names: JsonNames;
  readonly #places = new Uint8Array(placeMask + 1);

  constructor({ ids, addresses, holders }: MemberKinds) {
    for (const [names, meaning] of [
      [ids, idText],
      [addresses, addressText],
      [holders, idHolder],
    ] as const) {
      for (const name of names) this.#meanings.set(name, (this.#meanings.get(name) ?? 0) | meaning);
    }
    this.#names = new JsonNames([...this.#meanings.keys()]);
    for (const name of this.#meanings.keys()) this.#places[placeOf(Buffer.from(name), 0, name.length)] = 1;
  }

  /** False for nearly all other keys, in a few steps. Only for those that are spelled letter by letter. */
  mayHave(bytes: Buffer, start: number, end: number): boolean {
    return this.#places[placeOf(bytes, start, end)] === 1;
  }

  /** Of the key between its quotes; 0 if it has none. `isHeld`: its object is that of a holder. */
  of(bytes: Buffer, start: number, end: number, isHeld: boolean): number {
    const spelling = this.#names.find(bytes, start, end);
    const meaning = spelling === undefined ? 0 : (this.#meanings.get(spelling.name) ?? 0);
    if (meaning !== ownId) return meaning;
    return isHeld ? idText : 0;
  }

  /** Of a parameter of a query or form: `file_ids[]`, `video[id]`, `tools[0][file_id]`. */
  ofParameter(name: string): number {
    const [last = '', holder = ''] = name
      .slice(0, maxParameterLength)
      .replaceAll('[', '.')
      .replaceAll(']', '.')
      .split('.')
      .filter((word) => Number.isNaN(Number(word)))
      .toReversed();
    return this.#ofWord(last, (this.#ofWord(holder, false) & idHolder) !== 0);
  }

  #ofWord(word: string, isHeld: boolean): number {
    const bytes = Buffer.from(word);
    return this.of(bytes, 0, bytes.length, isHeld);
  }
}

const placeMask = 4_095;
const lowerCase = 0x20;

/** By length and the first, middle and last letter, in any case. */
function placeOf(bytes: Buffer, start: number, end: number): number {
  const first = (bytes[start] ?? 0) | lowerCase;
  const middle = (bytes[(start + end) >> 1] ?? 0) | lowerCase;
  const last = (bytes[end - 1] ?? 0) | lowerCase;
  return ((end - start) ^ (first << 7) ^ (middle << 3) ^ (last << 5)) & placeMask;
}

/** Longer than any name, nested or not. */
const maxParameterLength = 500;
