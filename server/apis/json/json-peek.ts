/**
 * Finds top-level values of a JSON body without parsing it. With their byte ranges, `json-splice.ts` can change a value
 * and leave every other byte as the client sent it. Knows JSON, not what the fields mean.
 */

import { yieldToEventLoop } from '../../ground/promises.ts';
import type { JsonNames } from './json-names.ts';
import { type ByteRange, JsonScan, type MemberListener } from './json-scan.ts';
import { JsonFault, type JsonMarks, type MarkedElement } from './json-tokens.ts';
import type { WatchedMembers, WatchedSearch } from './watched-members.ts';

/** Range of one top-level value; for a repeated key the last one, as in `JSON.parse`. */
export interface JsonField extends ByteRange {
  /** Offset of the key's opening quote. */
  keyStart: number;
  /** Number of direct elements or members of a list or object; 0 for other values. */
  items: number;
}

/** A top-level member, whatever its name. */
export interface TopMember {
  /** With its quotes. */
  key: ByteRange;
  value: ByteRange;
}

export type JsonPeek =
  | {
      ok: true;
      fields: Map<string, JsonField>;
      /** Names that parsers may read differently: written twice, or not letter by letter. */
      ambiguous: ReadonlySet<string>;
      /** Offset of the document's closing brace. */
      end: number;
      /** Whether the document is `{}`. */
      empty: boolean;
      /** Number of values at any depth. */
      values: number;
      /** Where marked strings are, in order. */
      marked: readonly MarkedElement[];
      /** All top-level members, in order; none if there are more than `maxMembers`. */
      members: readonly TopMember[];
      /** The bits of the watched members that the document has. */
      watched: number;
      /** Whether a watched member may name a stored object. */
      namesObjects: boolean;
    }
  | { ok: false; offset: number; reason: string };

/** Bodies up to this size are scanned in one go without noticeable delay. */
const atOnceBytes = 256 * 1024;
/** Slice of a longer body between two turns of the event loop: a few milliseconds at worst. */
const sliceBytes = 128 * 1024;

/**
 * Looks up top-level keys in a JSON object given as UTF-8, with or without a byte order mark. Anything but one complete
 * JSON object gives `ok: false`, with the offset of the fault.
 */
export function peekJson(body: Buffer, names: JsonNames, marks?: JsonMarks, watched?: WatchedMembers): JsonPeek {
  return new PeekScan(body, names, marks, watched).all();
}

/**
 * Like `peekJson`, but scans long bodies in slices and returns a promise for them, so that other requests can run in
 * between.
 */
export function peekLongJson(
  body: Buffer,
  names: JsonNames,
  marks?: JsonMarks,
  watched?: WatchedMembers,
): JsonPeek | Promise<JsonPeek> {
  const scan = new PeekScan(body, names, marks, watched);
  return body.length <= atOnceBytes ? scan.all() : peekInSlices(scan);
}

async function peekInSlices(scan: PeekScan): Promise<JsonPeek> {
  for (;;) {
    const peek = scan.advance(sliceBytes);
    if (peek) return peek;
    await yieldToEventLoop();
  }
}

/** Parses the value of a found field. Throws a SyntaxError if a string in it is malformed. */
export function fieldValue(body: Buffer, field: ByteRange): unknown {
  return JSON.parse(body.toString('utf8', field.start, field.end));
}

const noNames: ReadonlySet<string> = new Set();
const noElements: readonly MarkedElement[] = [];
/** More than any conversation has; elements beyond are not listed, so that a hostile body does not fill the heap. */
const maxMarked = 16_384;

/** More than any API has. */
const maxMembers = 256;
const noMembers: readonly TopMember[] = [];

class PeekScan implements MemberListener {
  readonly #body: Buffer;
  readonly #names: JsonNames;
  readonly #marks: JsonMarks | undefined;
  readonly #fields = new Map<string, JsonField>();
  #ambiguous: Set<string> | undefined;
  #marked: MarkedElement[] | undefined;
  readonly innerKey: MemberListener['innerKey'];
  readonly oddInnerKey: MemberListener['oddInnerKey'];
  readonly #members: TopMember[] = [];
  readonly #search: WatchedSearch | undefined;
  #scan: JsonScan | undefined;

  constructor(body: Buffer, names: JsonNames, marks: JsonMarks | undefined, watched: WatchedMembers | undefined) {
    this.#body = body;
    this.#names = names;
    this.#marks = marks;
    this.#search = watched?.search(body);
    const search = this.#search;
    this.innerKey = search && ((start, end, valueStart, depth) => search.key(start, end, valueStart, depth));
    this.oddInnerKey = search && ((start, end, valueStart) => search.oddKey(start, end, valueStart));
  }

  all(): JsonPeek {
    const peek = this.advance(Number.POSITIVE_INFINITY);
    if (!peek) throw new Error('A document that is gone through to its end is over.');
    return peek;
  }

  /** Null if `bytes` were not enough to reach the end. */
  advance(bytes: number): JsonPeek | null {
    try {
      this.#scan ??= new JsonScan(this.#body, this, this.#marks);
      return this.#scan.advance(bytes) ? this.#over(this.#scan) : null;
    } catch (error) {
      if (error instanceof JsonFault) return { ok: false, offset: error.offset, reason: error.message };
      throw error;
    }
  }

  member(key: ByteRange, value: ByteRange, items: number): void {
    if (this.#members.length <= maxMembers) this.#members.push({ key, value });
    this.#search?.oddKey(key.start, key.end, value.start);
    const spelling = this.#names.find(this.#body, key.start + 1, key.end - 1);
    if (!spelling) return;
    const { name, isSame, isPlain } = spelling;
    if (!isPlain || this.#fields.has(name)) {
      this.#ambiguous ??= new Set();
      this.#ambiguous.add(name);
    }
    if (isSame) this.#fields.set(name, { keyStart: key.start, start: value.start, end: value.end, items });
  }

  marked({ start, end }: ByteRange, element: Omit<MarkedElement, 'field'>): void {
    this.#marked ??= [];
    if (this.#marked.at(-1)?.start === element.start || this.#marked.length === maxMarked) return;
    this.#marked.push({ field: this.#body.toString('utf8', start + 1, end - 1), ...element });
  }

  #over({ end, isEmpty: empty, values }: JsonScan): JsonPeek {
    const ambiguous = this.#ambiguous ?? noNames;
    return {
      ok: true,
      fields: this.#fields,
      ambiguous,
      end,
      empty,
      values,
      marked: this.#marked ?? noElements,
      members: this.#members.length > maxMembers ? noMembers : this.#members,
      watched: this.#search?.bits ?? 0,
      namesObjects: this.#search?.namesObjects ?? false,
    };
  }
}
