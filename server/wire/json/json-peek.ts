/**
 * Finds a few top-level values of a JSON body without parsing the body: the byte ranges let `json-splice.ts` change one
 * value and leave every other byte as the client sent it. Knows JSON, not what the fields mean.
 */

import { nextTurn } from '../../loop-turns.ts';
import type { JsonNames } from './json-names.ts';
import { type ByteRange, JsonScan, type MemberListener } from './json-scan.ts';
import { JsonFault } from './json-tokens.ts';

/** Where one top-level value stands; of a key that is repeated the last, as `JSON.parse` takes it. */
export interface JsonField extends ByteRange {
  /** Offset of the quote that opens the key. */
  keyStart: number;
  /** Direct elements or members of a list or object; 0 of anything else. */
  items: number;
}

export type JsonPeek =
  | {
      ok: true;
      fields: Map<string, JsonField>;
      /** Names that servers may read in more than one way: written twice, or not letter by letter. */
      ambiguous: ReadonlySet<string>;
      /** Offset of the document's closing brace. */
      end: number;
      /** Whether the document is `{}`. */
      empty: boolean;
      /** How many there are at any depth. */
      values: number;
    }
  | { ok: false; offset: number; reason: string };

/** Up to this nobody notices that it is gone through at once. */
const atOnceBytes = 256 * 1024;
/** What of a longer one is gone through before others have their turn: some milliseconds at worst. */
const sliceBytes = 128 * 1024;

/**
 * Looks up names of top-level keys in a JSON object given as UTF-8, with or without a byte order mark. Anything that is not
 * one whole JSON object is `ok: false`, with the offset of the byte at fault.
 */
export function peekJson(body: Buffer, names: JsonNames): JsonPeek {
  return new JsonLook(body, names).all();
}

/** The same, in slices where it is long, with a promise: between the slices other requests have their turn. */
export function peekLongJson(body: Buffer, names: JsonNames): JsonPeek | Promise<JsonPeek> {
  return body.length <= atOnceBytes ? peekJson(body, names) : peekInSlices(body, names);
}

async function peekInSlices(body: Buffer, names: JsonNames): Promise<JsonPeek> {
  const look = new JsonLook(body, names);
  for (;;) {
    const peek = look.goOn(sliceBytes);
    if (peek) return peek;
    await nextTurn();
  }
}

/** The value of a field that was found. Throws a SyntaxError if a string in it is malformed. */
export function fieldValue(body: Buffer, field: ByteRange): unknown {
  return JSON.parse(body.toString('utf8', field.start, field.end));
}

const noNames: ReadonlySet<string> = new Set();

class JsonLook implements MemberListener {
  readonly #body: Buffer;
  readonly #names: JsonNames;
  readonly #fields = new Map<string, JsonField>();
  #ambiguous: Set<string> | undefined;
  #scan: JsonScan | undefined;

  constructor(body: Buffer, names: JsonNames) {
    this.#body = body;
    this.#names = names;
  }

  all(): JsonPeek {
    const peek = this.goOn(Number.POSITIVE_INFINITY);
    if (!peek) throw new Error('A document that is gone through to its end is over.');
    return peek;
  }

  /** Null while there is more to go through than `bytes`. */
  goOn(bytes: number): JsonPeek | null {
    try {
      this.#scan ??= new JsonScan(this.#body, this);
      return this.#scan.advance(bytes) ? this.#over(this.#scan) : null;
    } catch (error) {
      if (error instanceof JsonFault) return { ok: false, offset: error.offset, reason: error.message };
      throw error;
    }
  }

  member(key: ByteRange, value: ByteRange, items: number): void {
    const spelling = this.#names.find(this.#body, key.start + 1, key.end - 1);
    if (!spelling) return;
    const { name, isSame, isPlain } = spelling;
    if (!isPlain || this.#fields.has(name)) {
      this.#ambiguous ??= new Set();
      this.#ambiguous.add(name);
    }
    if (isSame) this.#fields.set(name, { keyStart: key.start, start: value.start, end: value.end, items });
  }

  #over({ end, isEmpty: empty, values }: JsonScan): JsonPeek {
    return { ok: true, fields: this.#fields, ambiguous: this.#ambiguous ?? noNames, end, empty, values };
  }
}
