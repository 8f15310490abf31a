/**
 * Removes secrets from what is kept of an exchange: the keys and credentials that took part in it, what has the form of
 * a key, and what the patterns of a cassette name. Everything that keeps bodies uses it.
 */

import { crc32 } from 'node:zlib';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { finish, type Steps } from '../../ground/promises.ts';
import { findingAll, mergeRanges, unescaped } from './find-secrets.ts';
import { redactHeaders, redactUrl } from './redact-credential.ts';
import { type Fragment, laneOf, type Place, placesOf } from './string-places.ts';

const redactionMark = '[redacted]';
const markBytes = Buffer.from(redactionMark);
/** A shorter beginning of a secret tells nothing of it. */
const minBeginning = 8;
const nothingFound = { known: [], shapes: [] };

/** How many fragments or ranges are looked at in a step, which takes less than a millisecond. */
const perStep = 2_000;

/** What is removed. */
interface Removed extends ByteRange {
  /** The secret began further before, where the mark is. */
  isRest?: boolean;
}

/** The strings of one text, in order. */
type Lane = readonly Fragment[];

/** Finds what a cassette names. */
interface TextPattern {
  /** Null: it cannot be told in reasonable time. */
  tryFindAll(text: string): ByteRange[] | null;
}

export class Redactor {
  readonly #secrets: readonly string[];
  readonly #patterns: readonly TextPattern[];

  constructor(secrets: readonly string[], patterns: readonly TextPattern[] = []) {
    this.#secrets = secrets;
    this.#patterns = patterns;
  }

  text(text: string): string {
    if (text.length < minBeginning && this.#patterns.length === 0) return text;
    const bytes = Buffer.from(text);
    const { known, shapes } = finish(findingAll(bytes, this.#secrets));
    const ranges = mergeRanges([...known, ...shapes, ...this.#byPatterns(bytes)]);
    return ranges.length === 0 ? text : finish(withoutRanges(bytes, ranges)).toString();
  }

  /** Redacts all strings and member names of a JSON value; returns the same value if there is nothing to remove. */
  json(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.json(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const members = Object.entries(value);
    const redactedMembers = members.map(([name, item]): [string, unknown] => [this.text(name), this.json(item)]);
    const isSame = redactedMembers.every(([name, item], at) => name === members[at]?.[0] && item === members[at][1]);
    return isSame ? value : Object.fromEntries(redactedMembers);
  }

  /** Redacts a path with its query. */
  url(url: string): string {
    return this.text(redactUrl(url, this.#secrets));
  }

  header(name: string, value: string): string {
    const [[, redacted] = [name, redactionMark]] = redactHeaders({ [name]: value }, this.#secrets);
    return this.text(redacted);
  }

  /** The first `keptBytes` of a body in any framing; the same buffer if nothing has to be removed. */
  body(body: Buffer, keptBytes?: number): Buffer {
    return finish(this.bodyInSteps(body, keptBytes));
  }

  *bodyInSteps(body: Buffer, keptBytes = body.length): Steps<Buffer> {
    if (isFrames(body)) return yield* redactFrames(body, keptBytes, (payloads) => this.rangesIn(payloads));
    const all = yield* this.rangesIn(body);
    const ranges = all.filter(({ start }) => start < keptBytes);
    const cutOff = { start: Math.max(keptBytes, ranges.at(-1)?.end ?? 0), end: body.length };
    if (ranges.length === 0) return cutOff.start < body.length ? body.subarray(0, keptBytes) : body;
    return yield* withoutRanges(body.subarray(0, cutOff.start), ranges);
  }

  /** Where secrets are in a body: in order, without overlaps, and each within one string if it is within any. */
  *rangesIn(body: Buffer): Steps<Removed[]> {
    const { known, shapes } = yield* findingAll(body, this.#secrets);
    const ranges: Removed[] = [...known, ...shapes];
    const places = yield* placesOf(body);
    const lanes: Lane[] = [];
    for (const place of places) {
      const ofPlace = place.areNames ? [] : yield* lanesOf(place);
      yield* this.#addSpread(body, place, ofPlace, ranges);
      for (const lane of ofPlace) if (lane.length > 1) lanes.push(lane);
      yield;
    }
    const shapeEnds = new Set(shapes.map(({ end }) => end));
    for (const lane of lanes) yield* addRests(body, lane, shapeEnds, ranges);
    return yield* merged(ranges);
  }

  *#addSpread(body: Buffer, { fragments }: Place, lanes: readonly Lane[], ranges: Removed[]): Steps<void> {
    if (this.#patterns.length > 0) {
      for (const { start, end } of fragments) {
        for (const found of this.#byPatterns(body.subarray(start, end))) ranges.push(moved(found, start));
        yield;
      }
    }
    // An index that counts the pieces themselves tells no answers apart.
    const isCount = lanes.length > 0 && lanes.every(({ length }) => length === 1);
    for (const each of isCount ? [fragments] : lanes) {
      // Names and ids, which are the same in all events.
      if (each.length > 1 && (yield* areSame(body, each))) continue;
      const joined = yield* joinedText(body, each);
      const { known, shapes } = each.length > 1 ? yield* findingAll(joined, this.#secrets) : nothingFound;
      const byPatterns = each.length > 1 ? this.#byPatterns(joined) : [];
      const found = mergeRanges([...known, ...shapes, ...byPatterns, ...this.#beginningAtEnd(joined)]);
      yield* spread(found, each, ranges);
    }
  }

  /** What is left of a secret where a text breaks off. */
  #beginningAtEnd(text: Buffer): ByteRange[] {
    return this.#secrets.flatMap((secret) => {
      const tail = text.toString('latin1', Math.max(0, text.length - secret.length));
      for (let length = Math.min(secret.length - 1, tail.length); length >= minBeginning; length--) {
        if (tail.endsWith(secret.slice(0, length))) return [{ start: text.length - length, end: text.length }];
      }
      return [];
    });
  }

  /** Where a pattern takes too many steps, the whole text, so that nothing is stored that should not be. */
  #byPatterns(escaped: Buffer): ByteRange[] {
    if (this.#patterns.length === 0) return [];
    const { bytes, startOf } = unescaped(escaped);
    const text = bytes.toString();
    const found = this.#patterns.flatMap((each) => each.tryFindAll(text) ?? { start: 0, end: text.length });
    return inBytes(text, found).map(({ start, end }) => ({ start: startOf(start), end: startOf(end) }));
  }
}

/** `from`: the offset of the part at which the ranges are counted from. */
export function* withoutRanges(part: Buffer, ranges: readonly Removed[], from = 0): Steps<Buffer> {
  // Each removed range has at most a mark more than it had.
  const result = Buffer.allocUnsafe(part.length + ranges.length * markBytes.length);
  let [at, length] = [0, 0];
  for (const [index, { start, end, isRest }] of ranges.entries()) {
    if (index % perStep === perStep - 1) yield;
    length += part.copy(result, length, at, Math.max(at, start - from));
    if (!isRest) length += markBytes.copy(result, length);
    at = Math.min(end - from, part.length);
  }
  length += part.copy(result, length, at);
  return result.subarray(0, length);
}

function moved({ start, end }: ByteRange, by: number): ByteRange {
  return { start: start + by, end: end + by };
}

/** In order, those that overlap joined. */
function* merged(ranges: readonly Removed[]): Steps<Removed[]> {
  const result: Removed[] = [];
  const sorted = ranges.toSorted((one, other) => one.start - other.start);
  for (const [index, { start, end, isRest = false }] of sorted.entries()) {
    if (index % perStep === perStep - 1) yield;
    const last = result.at(-1);
    if (last && start < last.end) {
      last.isRest &&= isRest || end <= last.end;
      last.end = Math.max(last.end, end);
    } else result.push({ start, end, isRest });
  }
  return result;
}

/** Those that are sent in turns, apart. */
function* lanesOf({ fragments }: Place): Steps<readonly Lane[]> {
  const byLane = new Map<string, Fragment[]>();
  for (const [index, fragment] of fragments.entries()) {
    if (index % perStep === perStep - 1) yield;
    const name = laneOf(fragment);
    const lane = byLane.get(name);
    if (lane) lane.push(fragment);
    else byLane.set(name, [fragment]);
  }
  return [...byLane.values()];
}

function* areSame(body: Buffer, fragments: Lane): Steps<boolean> {
  const [first = { start: 0, end: 0 }] = fragments;
  for (const [index, { start, end }] of fragments.entries()) {
    if (index % perStep === perStep - 1) yield;
    if (end - start !== first.end - first.start) return false;
    if (body.compare(body, first.start, first.end, start, end) !== 0) return false;
  }
  return true;
}

function* joinedText(body: Buffer, fragments: Lane): Steps<Buffer> {
  const [first = { start: 0, end: 0 }, second] = fragments;
  if (!second) return body.subarray(first.start, first.end);
  const joined = Buffer.allocUnsafe(fragments.reduce((sum, { start, end }) => sum + end - start, 0));
  let length = 0;
  for (const [index, { start, end }] of fragments.entries()) {
    if (index % perStep === perStep - 1) yield;
    length += body.copy(joined, length, start, end);
  }
  return joined;
}

/** Adds ranges of the joined text as ranges of the body. Both are in order. */
function* spread(ranges: readonly ByteRange[], fragments: Lane, to: Removed[]): Steps<void> {
  let [index, from, pieces] = [0, 0, 0];
  for (const { start, end } of ranges) {
    for (let fragment = fragments[index]; fragment; fragment = fragments[index]) {
      if (++pieces % perStep === 0) yield;
      const length = fragment.end - fragment.start;
      const piece = { start: Math.max(start - from, 0), end: Math.min(end - from, length) };
      if (piece.start < piece.end) to.push({ ...moved(piece, fragment.start), isRest: start < from });
      if (end - from <= length) break;
      from += length;
      index++;
    }
  }
}

const keyCharacter = /[\w+/=-]/;

/**
 * Where a part of a stream ends within what has the form of a key, the rest of the key at the beginning of the next part: by
 * itself, it has no form.
 */
function* addRests(body: Buffer, lane: Lane, ends: Set<number>, ranges: Removed[]): Steps<void> {
  for (const [index, { start, end, part }] of lane.entries()) {
    if (index % perStep === perStep - 1) yield;
    const before = lane[index - 1];
    if (!before || before.part === part || !ends.has(before.end)) continue;
    let at = start;
    while (at < end && keyCharacter.test(String.fromCharCode(body[at] ?? 0))) at++;
    if (at === start) continue;
    ranges.push({ start, end: at, isRest: true });
    ends.add(at);
  }
}

/** Ranges of characters, which may overlap, as ranges of bytes. */
function inBytes(text: string, ranges: readonly ByteRange[]): ByteRange[] {
  let [at, bytes] = [0, 0];
  return mergeRanges(ranges).map((range) => {
    const start = bytes + Buffer.byteLength(text.slice(at, range.start));
    const end = start + Buffer.byteLength(text.slice(range.start, range.end));
    [at, bytes] = [range.end, end];
    return { start, end };
  });
}

// Secrets in AWS's event streams, whose frames hold JSON, or JSON in base64 (`{"bytes":"…"}`). A frame without them
// is written anew, with its length and checksums. Source: AWS, "Event stream encoding".

const lengthBytes = 4;
const preludeBytes = 12;
const checksumBytes = 4;
const inBase64 = /^(\s{0,9}\{[^{}[\]]{0,200}"bytes"\s{0,9}:\s{0,9}")([A-Za-z0-9+/=]+)(")/;

interface Frame extends ByteRange {
  headersEnd: number;
}

/** Whether the body begins with an intact prelude. */
function isFrames(body: Buffer): boolean {
  return frameAt(body, 0) !== null;
}

/** The first `keptBytes`. `find`: the ranges of secrets in the contents of all frames, a line each. */
function* redactFrames(
  body: Buffer,
  keptBytes: number,
  find: (contents: Buffer) => Steps<readonly (ByteRange & { isRest?: boolean })[]>,
): Steps<Buffer> {
  const frames: Frame[] = [];
  let rest = 0;
  for (let frame = frameAt(body, 0); frame; frame = frameAt(body, rest)) {
    frames.push(frame);
    rest = frame.end;
  }
  const contents = frames.map((frame) => contentOf(body.subarray(frame.headersEnd, frame.end - checksumBytes)));
  const ranges = yield* find(Buffer.concat(contents.flatMap(({ content }) => [content, newline])));
  const pieces: Buffer[] = [];
  let [from, next] = [0, 0];
  for (const [index, frame] of frames.entries()) {
    if (frame.start >= keptBytes) break;
    const { content, write } = contents[index] ?? contentOf(nothing);
    const cleaned: Buffer[] = [];
    let at = 0;
    for (let range = ranges[next]; range && range.start < from + content.length; range = ranges[++next]) {
      cleaned.push(content.subarray(at, range.start - from), range.isRest ? nothing : mark);
      at = range.end - from;
    }
    from += content.length + 1;
    const original = body.subarray(frame.start, frame.end);
    const isSame = cleaned.length === 0;
    const written = isSame
      ? original
      : withPayload(original, frame, write(Buffer.concat([...cleaned, content.subarray(at)])));
    pieces.push(frame.end > keptBytes && isSame ? written.subarray(0, keptBytes - frame.start) : written);
  }
  // What is no whole frame: of its payload nothing can be told.
  return Buffer.concat(pieces);
}

const nothing = Buffer.alloc(0);
const newline = Buffer.from('\n');
const mark = Buffer.from('[redacted]');

function frameAt(body: Buffer, start: number): Frame | null {
  if (body.length < start + preludeBytes) return null;
  const end = start + body.readUInt32BE(start);
  const headersEnd = start + preludeBytes + body.readUInt32BE(start + lengthBytes);
  const prelude = body.subarray(start, start + 2 * lengthBytes);
  const isIntact = headersEnd + checksumBytes <= end && end <= body.length;
  return isIntact && crc32(prelude) === body.readUInt32BE(start + 2 * lengthBytes) ? { start, end, headersEnd } : null;
}

interface Content {
  content: Buffer;
  /** The payload with another content. */
  write(content: Buffer): Buffer;
}

function contentOf(payload: Buffer): Content {
  const [all = '', before = '', base64 = '', after = ''] = inBase64.exec(payload.toString('latin1')) ?? [];
  if (all === '') return { content: payload, write: (content) => content };
  const rest = payload.subarray(all.length);
  return {
    content: Buffer.from(base64, 'base64'),
    write: (content) => Buffer.concat([Buffer.from(before + content.toString('base64') + after, 'latin1'), rest]),
  };
}

function withPayload(original: Buffer, { start, headersEnd }: Frame, payload: Buffer): Buffer {
  const headersLength = headersEnd - start;
  const frame = Buffer.concat([original.subarray(0, headersLength), payload, Buffer.alloc(checksumBytes)]);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(crc32(frame.subarray(0, 2 * lengthBytes)), 2 * lengthBytes);
  frame.writeUInt32BE(crc32(frame.subarray(0, -checksumBytes)), frame.length - checksumBytes);
  return frame;
}
