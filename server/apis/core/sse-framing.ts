/** Server-sent events as a framing: where events begin and end, and what they may be. */
import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import {
  ComparedBytes,
  type EventFilter,
  type EventGate,
  type Framing,
  type GateOptions,
  HeldEvent,
  type RestKind,
  type StreamEvent,
  type StreamFormat,
} from './stream-format.ts';

// `message` is the default name.
const nameLine = boundedPattern(/^event: ?(?!message\s*$)([a-z_.]+)/);
const leadingType = boundedPattern(/^data: ?\{\s*"type"\s*:\s*"([a-z_.]+)"/m);
const leadingId = boundedPattern(/"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/);
const eventHeadBytes = 400;

/**
 * Null for an event whose data no client could parse, including an empty `data:`. An event of comments and other fields
 * alone is valid, and has no data.
 * @param text a complete event, with or without its blank line
 */
export function readEvent(text: string): StreamEvent | null {
  const at = text.startsWith('data:') ? 0 : text.indexOf('\ndata:') + 1;
  // A line before it that ends in CR may be data as well.
  if (!text.startsWith('data:', at) || (at > 0 && text.lastIndexOf('\r', at) !== -1)) return readLines(text);
  // The usual case: one line of data, perhaps after an `event` line.
  const data = text.slice(at + 'data:'.length).trim();
  if (data.includes('\n') || data.includes('\r')) return readLines(text);
  return readData(at === 0 ? '' : nameIn(linesOf(text.slice(0, at))), data);
}

/** What the beginning reveals about an event that is too large to be held. */
export function readPartialEvent(bytes: Buffer): StreamEvent {
  const head = bytes.toString('latin1', 0, eventHeadBytes);
  const [type, id] = [leadingType, leadingId].map((pattern) => pattern.exec(head)?.[1]);
  return { name: nameIn(linesOf(head)), data: '', value: { type, response: { id } } };
}

/** Lines with any terminator. No regular expression, since an event may be long. */
export function linesOf(text: string): string[] {
  const normalized = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text;
  return normalized.split('\n');
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/**
 * Whether the event has only comments and empty lines, which keep a connection alive. Allocates no string, since such
 * events may be frequent.
 */
function isKeepAlive(event: Buffer): boolean {
  for (let at = 0; at < event.length; at++) {
    const byte = event[at];
    if (byte === lineFeed || byte === carriageReturn) continue;
    if (byte !== colon) return false;
    while (at < event.length && event[at] !== lineFeed && event[at] !== carriageReturn) at++;
  }
  return true;
}

function readLines(text: string): StreamEvent | null {
  const lines = linesOf(text);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length));
  const name = nameIn(lines);
  return data.length === 0 ? { name, data: '', value: undefined } : readData(name, data.join('\n').trim());
}

function readData(name: string, data: string): StreamEvent | null {
  if (data === '[DONE]') return { name, data, value: undefined };
  const value = endsAsItBegins(data) ? parse(data) : undefined;
  return value === undefined ? null : { name, data, value };
}

const ends: Record<string, string> = { '{': '}', '[': ']', '"': '"' };

/** Detects most invalid JSON: an exception would cost more than all other work on the event. */
function endsAsItBegins(data: string): boolean {
  const first = data[0] ?? '';
  const last = ends[first];
  return last === undefined ? '-0123456789tfn'.includes(first) && first !== '' : data.endsWith(last);
}

function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return value;
  } catch {
    return undefined;
  }
}

function nameIn(lines: readonly string[]): string {
  for (const line of lines) {
    const name = line.startsWith('event:') ? nameLine.exec(line)?.[1] : undefined;
    if (name !== undefined) return name;
  }
  return '';
}

/**
 * Classifies the data after a stream's last blank line. If an upstream omits the final blank line, SDKs treat the rest as
 * an event; an incomplete one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer, event: StreamEvent | null): RestKind {
  if (event?.data === '[DONE]' || isObject(event?.value)) return 'event';
  return isKeepAlive(rest) ? 'nothing' : 'piece';
}

const eventStreamType = boundedPattern(/^text\/event-stream\b/i);
/** `data: ping` and an empty `data:` say nothing; JSON that cannot be parsed has lost something. */
const damagedJson = boundedPattern(/^data: ?\s*[{["]/m);
/** Other fields may come before the data. */
const headBytes = 4 * 1024;
const fieldOrComment = boundedPattern(/^(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:/);

/** Server-sent events. */
export const sseFraming: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  isStream: (contentType) => eventStreamType.test(contentType),
  openGate: (write, options) => new SseGate(write, options),
  readEvent: (event) => readEvent(event.toString('utf8')),
  mayBeContent: (event) => damagedJson.test(event.toString('latin1', 0, headBytes)),
  readPartialEvent,
  isKeepAlive,
  kindOfRest,
  /** Events begin with a field or a comment. */
  beginsLikeAnEvent: (bytes) => fieldOrComment.test(bytes.toString('latin1', 0, 64)),
  keepAlive: Buffer.from(': keep-alive\n\n'),
};

/** The framing of streams of this route; server-sent events if it has none. */
export function framingOf({ stream }: { stream: Pick<StreamFormat, 'framing'> | null }): Framing {
  return stream?.framing ?? sseFraming;
}

const byteOrderMark = Buffer.from('\ufeff');

/**
 * Passes the bytes of a server-sent event stream unchanged, but only whole events: an incomplete event is held until
 * its blank line. So an upstream that breaks off never leaves the client with half an event, and an error event or a
 * comment can be inserted at any time. An event of more than `maxHeldBytes` (an image; default 64 KiB) passes as it
 * arrives. A byte order mark at the beginning is dropped.
 *
 * Lines may end in LF, CRLF and CR in any mixture (`LineEnds`), and chunks may be cut anywhere.
 */
export class SseGate implements EventGate {
  readonly #write: (bytes: Buffer) => void;
  readonly #filter: EventFilter;
  readonly #knownEvents: GateOptions['known'];
  readonly #held: HeldEvent;
  /** The current line is empty so far. */
  #atLineStart = true;
  #lastByte: number | undefined;
  /** The first bytes of the stream while they may be a byte order mark; null once that is decided. */
  #byteOrderMark: Buffer | null = Buffer.alloc(0);

  constructor(write: (bytes: Buffer) => void, options: GateOptions) {
    this.#write = write;
    this.#filter = options.filter;
    this.#knownEvents = options.known;
    this.#held = new HeldEvent(write, options);
  }

  get insideEvent(): boolean {
    return this.#held.isLarge;
  }

  push(bytes: Buffer): void {
    const chunk = this.#byteOrderMark ? this.#withoutMark(bytes, this.#byteOrderMark) : bytes;
    if (chunk.length === 0) return;
    const from = this.#pushEvents(chunk);
    if (from < chunk.length) this.#hold(from === 0 ? chunk : chunk.subarray(from));
    this.#lastByte = chunk.at(-1);
  }

  /** Returns and forgets the unsent bytes after the last blank line; the caller decides what they mean. */
  takeRest(): Buffer {
    return this.#held.take(this.#byteOrderMark ?? Buffer.alloc(0));
  }

  /**
   * Drops the byte order mark, which clients would have to ignore, and which the Python SDK takes for part of the first
   * field's name.
   */
  #withoutMark(bytes: Buffer, before: Buffer): Buffer {
    const start = before.length === 0 ? bytes : Buffer.concat([before, bytes]);
    const beginning = start.subarray(0, byteOrderMark.length);
    const mayBeMark = byteOrderMark.subarray(0, beginning.length).equals(beginning);
    const isLong = beginning.length === byteOrderMark.length;
    this.#byteOrderMark = mayBeMark && !isLong ? Buffer.from(start) : null;
    if (!mayBeMark) return start;
    return isLong ? start.subarray(byteOrderMark.length) : start.subarray(start.length);
  }

  /** Passes each event to the filter, without the empty lines between them. Returns the end of the last one. */
  #pushEvents(chunk: Buffer): number {
    const edited = new EditedChunk(chunk);
    const lineEnds = new LineEnds(chunk);
    const searchedFrom = isSplitLineEnd(this.#lastByte, chunk[0]) ? 1 : 0;
    const compared = this.#knownEvents ? new ComparedBytes(chunk) : null;
    let from = 0;
    for (;;) {
      // Empty lines have no meaning but may be numerous, so they skip the filter.
      if (this.#held.isEmpty) from = afterEmptyLines(chunk, from);
      const knownEvent = compared && this.#held.isEmpty ? this.#knownEvents?.find(compared, from) : null;
      const end = knownEvent ? knownEvent.end : lineEnds.endOfEvent(Math.max(from, searchedFrom), this.#atLineStart);
      if (end === -1) break;
      if (!knownEvent) this.#filterEvent(edited, from, end);
      else if (knownEvent.cutEnd > knownEvent.cutStart) edited.replace(knownEvent.cutStart, knownEvent.cutEnd, null);
      from = end;
    }
    const passed = edited.upTo(from);
    if (passed) this.#write(passed);
    return from;
  }

  #filterEvent(edited: EditedChunk, from: number, end: number): void {
    const part = edited.chunk.subarray(from, end);
    if (this.#held.isLarge) this.#held.endLarge(part);
    else {
      const result = this.#held.isEmpty ? this.#filter(part, true) : this.#filterHeld(this.#held.take(part));
      if (result !== part) edited.replace(from, end, result);
    }
    this.#atLineStart = true;
  }

  /** For an event that arrived in more than one chunk. */
  #filterHeld(event: Buffer): Buffer | null {
    const knownEvent = this.#knownEvents?.find(new ComparedBytes(event), 0);
    if (!knownEvent) return this.#filter(event, true);
    const edited = new EditedChunk(event);
    edited.replace(knownEvent.cutStart, knownEvent.cutEnd, null);
    return edited.upTo(event.length);
  }

  #hold(part: Buffer): void {
    this.#atLineStart = isLineEnd(part.at(-1));
    this.#held.add(part);
  }
}

/** A range of bytes, without the view that `subarray` would make, which costs as much as a lookup. */
interface Piece {
  bytes: Buffer;
  start: number;
  end: number;
}

/** Assembles the rest of an edited chunk into one buffer, since a write costs more than a copy. */
class EditedChunk {
  readonly chunk: Buffer;
  readonly #pieces: Piece[] = [];
  #keptFrom = 0;
  #length = 0;

  constructor(chunk: Buffer) {
    this.chunk = chunk;
  }

  /** Calls must be in order. */
  replace(start: number, end: number, by: Buffer | null): void {
    this.#keep(this.chunk, this.#keptFrom, start);
    if (by) this.#keep(by, 0, by.length);
    this.#keptFrom = end;
  }

  /** Null if nothing is left. */
  upTo(end: number): Buffer | null {
    // The usual case in a paced stream.
    if (this.#keptFrom === 0 && this.#pieces.length === 0 && end === this.chunk.length && end > 0) return this.chunk;
    this.replace(end, end, null);
    const [first] = this.#pieces;
    if (!first || this.#pieces.length > 1) return first ? this.#joined() : null;
    return first.end - first.start === first.bytes.length ? first.bytes : first.bytes.subarray(first.start, first.end);
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (start >= end) return;
    this.#pieces.push({ bytes, start, end });
    this.#length += end - start;
  }

  #joined(): Buffer {
    const joined = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const { bytes, start, end } of this.#pieces) at += bytes.copy(joined, at, start, end);
    return joined;
  }
}

/** Skips empty lines; `from` must be the start of a line, or the LF of a CRLF that was split. */
function afterEmptyLines(chunk: Buffer, from: number): number {
  let at = from;
  while (isLineEnd(chunk[at])) at++;
  return at;
}

// Lines and events of server-sent event streams in bytes. A line ends in LF, CRLF or CR, in any mixture (WHATWG
// HTML, "Parsing an event stream"), and an event ends with an empty line.

const LF = 0x0a;
const CR = 0x0d;

/** Finds the line ends of a chunk, each byte of which is searched once. Offsets must be asked for in order. */
export class LineEnds {
  readonly #bytes: Buffer;
  /** The next ones; the length of the bytes if there are no more. */
  #lf = -1;
  #cr = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Offset after the first empty line at or after `from`, or -1. @param atLineStart `from` is the start of a line */
  endOfEvent(from: number, atLineStart: boolean): number {
    let lineStart = atLineStart ? from : -1;
    for (let end = this.#next(from); end < this.#bytes.length; end = this.#next(lineStart)) {
      const after = this.#after(end);
      if (end === lineStart) return after;
      lineStart = after;
    }
    return -1;
  }

  #next(from: number): number {
    if (this.#lf < from) this.#lf = this.#find(LF, from);
    if (this.#cr < from) this.#cr = this.#find(CR, from);
    return this.#lf < this.#cr ? this.#lf : this.#cr;
  }

  #find(byte: number, from: number): number {
    const at = this.#bytes.indexOf(byte, from);
    return at === -1 ? this.#bytes.length : at;
  }

  /** A CR at the end of a chunk ends its line at once; a LF that follows in the next chunk belongs to it. */
  #after(end: number): number {
    return this.#bytes[end] === CR && this.#bytes[end + 1] === LF ? end + 2 : end + 1;
  }
}

export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** Offset of the first line end at or after `from`; the length if there is none. */
export function endOfLine(bytes: Buffer, from: number): number {
  const lf = bytes.indexOf(LF, from);
  const line = lf === -1 ? bytes : bytes.subarray(0, lf);
  const cr = line.indexOf(CR, from);
  return cr === -1 ? line.length : cr;
}

/** Whether a line that ended with the chunk before goes on with this one: its CRLF was split. */
function isSplitLineEnd(last: number | undefined, first: number | undefined): boolean {
  return last === CR && first === LF;
}
