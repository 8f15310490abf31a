/**
 * Finds top-level values of a JSON body without parsing it. With their byte ranges, `JsonEdit` changes a value
 * and leave every other byte as the client sent it. Knows JSON, not what the fields mean.
 */

import type { BoundedPattern } from '../../ground/bounded-pattern.ts';
import { yieldToEventLoop } from '../../ground/promises.ts';
import { JsonNames, type WatchedMembers, type WatchedSearch } from './json-names.ts';
import {
  type ByteRange,
  JsonFault,
  type JsonMarks,
  JsonScan,
  type MarkedElement,
  type MemberListener,
} from './json-scan.ts';

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

// Changes single values of a JSON body in place, so that everything else (numbers, escapes, spacing, key order,
// unknown fields) reaches the upstream as the client wrote it. Works on the results of `json-peek.ts`.

/** Replaces bytes `start` to `end` with `text`. */
export interface JsonEdit {
  start: number;
  end: number;
  text: string;
}

/** Asks the upstream to report usage at the end of a stream. */
const includeUsage = '"include_usage":true';
const optionNames = new JsonNames(['include_usage']);
/** Far longer than any real `stream_options`. */
const maxOptionsBytes = 64 * 1024;

/** Replaces the value of a field; may be combined with other edits of the same body. */
export function fieldEdit({ start, end }: ByteRange, value: string): JsonEdit {
  return { start, end, text: JSON.stringify(value) };
}

/**
 * Edits that set `stream_options.include_usage: true`: one, or none if the client has set it itself. `peek` must include
 * `stream_options`.
 */
export function usageEdits(body: Buffer, peek: JsonPeek): JsonEdit[] {
  if (!peek.ok) return [];
  const options = peek.fields.get('stream_options');
  if (options === undefined) {
    return [insertion(peek.end, `"stream_options":{${includeUsage}}`, peek.empty)];
  }
  if (isNull(body, options)) return [{ start: options.start, end: options.end, text: `{${includeUsage}}` }];
  return optionEdits(body, options);
}

function optionEdits(body: Buffer, options: JsonField): JsonEdit[] {
  if (options.end - options.start > maxOptionsBytes) return [];
  const value = body.subarray(options.start, options.end);
  const inner = peekJson(value, optionNames);
  if (!inner.ok) return []; // Not an object; the upstream will reject it.
  const choice = inner.fields.get('include_usage');
  if (choice === undefined) return [insertion(options.start + inner.end, includeUsage, inner.empty)];
  if (!isNull(value, choice)) return [];
  return [{ start: options.start + choice.start, end: options.start + choice.end, text: 'true' }];
}

/** Inserts a member before the closing brace at `brace`. */
function insertion(brace: number, member: string, isFirst: boolean): JsonEdit {
  return { start: brace, end: brace, text: isFirst ? member : `,${member}` };
}

function isNull(body: Buffer, { start, end }: JsonField): boolean {
  return end - start === 4 && body.toString('latin1', start, end) === 'null';
}

/** The edited body in pieces. Edits must not overlap; their order does not matter. */
export function piecesOf(body: Buffer, edits: readonly JsonEdit[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    pieces.push(body.subarray(at, start), Buffer.from(text));
    at = end;
  }
  pieces.push(body.subarray(at));
  return pieces;
}

/** Copying this much takes at most a few milliseconds. */
const copiedAtOnceBytes = 4 * 1024 * 1024;

/** Concatenates the pieces. Long ones are copied in slices, with a turn of the event loop between them. */
export async function joinBytes(pieces: readonly Buffer[]): Promise<Buffer> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  let restBytes = copiedAtOnceBytes;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const count = piece.copy(whole, at, from, from + restBytes);
      at += count;
      from += count;
      restBytes -= count;
      if (restBytes === 0) await yieldToEventLoop();
      restBytes ||= copiedAtOnceBytes;
    }
  }
  return whole;
}

// Finds members by name in a fragment of JSON, with their depth, in one pass and without parsing: for responses of which
// only the beginning and the end are kept. Pure.

export interface Member {
  /** 1: a member of the top-level object. */
  level: number;
  start: number;
  /** Offset after its value, if that is an object that ends within the fragment; otherwise null. */
  end: number | null;
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** For the beginning of a document. */
export function membersOfBeginning(bytes: Buffer, name: string): Member[] {
  const start = bytes.indexOf(openBrace);
  return start === -1 ? [] : walk(bytes, name, start).members;
}

/**
 * For the end of a complete document, cut anywhere. The first match that can only be a key shows which parts are
 * strings: in JSON, a quote inside a string follows a backslash. If the document is a list, which is how Gemini streams
 * without `alt=sse`, its objects count as documents, and the list may lack its end.
 */
export function membersOfEnd(bytes: Buffer, name: string): Member[] {
  const key = `"${name}"`;
  let at = bytes.indexOf(key);
  while (at !== -1 && !isKey(bytes, at, at + key.length)) at = bytes.indexOf(key, at + 1);
  if (at === -1) return [];
  const { members, lowest } = walk(bytes, name, at);
  // A document ends at depth 0, whatever depth the walk began at.
  const end = lastByte(bytes) === closeBracket ? lowest + 1 : lowest;
  for (const member of members) member.level -= end;
  return members;
}

function isKey(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start - 1] !== backslash && bytes[skipSpace(bytes, end)] === colon;
}

function lastByte(bytes: Buffer): number | undefined {
  let at = bytes.length - 1;
  while (at > 0 && (bytes[at] ?? 0) <= 0x20) at -= 1;
  return bytes[at];
}

interface Walk {
  members: Member[];
  /** The least depth, relative to the beginning. */
  lowest: number;
}

function walk(bytes: Buffer, name: string, from: number): Walk {
  const key = `"${name}"`;
  const members: Member[] = [];
  /** Members whose value has begun. */
  const open: Member[] = [];
  let depth = 0;
  let lowest = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth < lowest) lowest = depth;
      if (open.at(-1)?.level === depth) (open.pop() as Member).end = at + 1;
    } else if (byte === quote) {
      const end = endOfString(bytes, at);
      const start =
        end - at === key.length && bytes.toString('latin1', at, end) === key ? startOfValue(bytes, end) : -1;
      if (start !== -1) {
        const member: Member = { level: depth, start, end: null };
        members.push(member);
        if (bytes[start] === openBrace) open.push(member);
      }
      at = end - 1;
    }
  }
  return { members, lowest };
}

/** Offset after its closing quote, or after the last byte. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at + 1;
  }
  return bytes.length;
}

/** -1 if the string before it is not a key. */
function startOfValue(bytes: Buffer, afterKey: number): number {
  const at = skipSpace(bytes, afterKey);
  return bytes[at] === colon ? skipSpace(bytes, at + 1) : -1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** How much after a key is examined. */
const valueLength = 300;

interface FoundMember {
  /** The pattern's first group. */
  value: string;
  /** Offset after the key. */
  end: number;
}

/**
 * The first member named `name` at or after `from` whose value matches, in what may be a fragment of JSON. `value` is
 * matched against the text after the key.
 */
export function findMember(text: string, name: string, value: BoundedPattern, from = 0): FoundMember | null {
  const key = `"${name}"`;
  for (let at = text.indexOf(key, from); at !== -1; at = text.indexOf(key, at + key.length)) {
    const end = at + key.length;
    const match = value.exec(text.slice(end, end + valueLength));
    if (match) return { value: match[1] ?? '', end };
  }
  return null;
}
