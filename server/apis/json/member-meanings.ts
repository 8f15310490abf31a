import { JsonNames } from './json-names.ts';

/** Names of members, in lower case; they are found in any case and spelling. */
export interface MemberKinds {
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
