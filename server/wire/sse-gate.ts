/**
 * Passes the bytes of a server-sent event stream unchanged, but only whole events: an incomplete event is held until its
 * blank line. So an upstream that breaks off never leaves the client with half an event, and an error event or a comment
 * can be inserted at any time. An event of more than `maxHeldBytes` (an image; default 64 KiB) passes as it arrives. A
 * byte order mark at the beginning is dropped.
 *
 * Lines may end in LF, CRLF, or CR throughout, and chunks may be cut anywhere.
 */

import { ComparedBytes } from '../compared-bytes.ts';
import type { EventFilter, EventGate, GateOptions } from './framing.ts';

const LF = 0x0a;
const CR = 0x0d;
const blankLineOfCr = Buffer.from('\r\r');
const byteOrderMark = Buffer.from('\ufeff');
const usualMaxHeldBytes = 64 * 1024;

export class SseGate implements EventGate {
  readonly #write: (bytes: Buffer) => void;
  readonly #filter: EventFilter;
  readonly #knownEvents: GateOptions['known'];
  readonly #maxHeldBytes: number;
  #heldParts: Buffer[] = [];
  #heldBytes = 0;
  /** The current line is empty so far, except for a CR at its end. */
  #atLineStart = true;
  #insideLargeEvent = false;
  /** CR only for a stream whose first event ended without any LF; undefined until that is known. */
  #lineEnd: typeof LF | typeof CR | undefined;
  #endsInCr = false;
  /** The first bytes of the stream while they may be a byte order mark; null once that is decided. */
  #byteOrderMark: Buffer | null = Buffer.alloc(0);

  constructor(
    write: (bytes: Buffer) => void,
    { filter, known: knownEvents, maxHeldBytes = usualMaxHeldBytes }: GateOptions,
  ) {
    this.#write = write;
    this.#filter = filter;
    this.#knownEvents = knownEvents;
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Part of an event has been sent, so nothing may be inserted before its end. */
  get insideEvent(): boolean {
    return this.#insideLargeEvent;
  }

  push(bytes: Buffer): void {
    const chunk = this.#byteOrderMark ? this.#withoutMark(bytes, this.#byteOrderMark) : bytes;
    if (!this.#lineEnd) this.#learnLineEnd(chunk);
    const from = this.#pushEvents(chunk);
    if (from < chunk.length) this.#hold(from === 0 ? chunk : chunk.subarray(from));
  }

  /** Returns and forgets the unsent bytes after the last blank line; the caller decides what they mean. */
  takeRest(): Buffer {
    const rest = Buffer.concat(this.#byteOrderMark ? [this.#byteOrderMark] : this.#heldParts);
    this.#forgetHeld();
    return rest;
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

  #learnLineEnd(chunk: Buffer): void {
    const lf = chunk.indexOf(LF);
    const isSplit = this.#endsInCr && chunk[0] === CR;
    const blank = isSplit ? 0 : chunk.indexOf(blankLineOfCr);
    if (blank !== -1 && (lf === -1 || blank < lf)) this.#lineEnd = CR;
    else if (lf !== -1) this.#lineEnd = LF;
    if (isSplit) this.#atLineStart = true;
    this.#endsInCr = chunk.at(-1) === CR;
  }

  #sendHeld(): void {
    for (const part of this.#heldParts) this.#write(part);
    this.#forgetHeld();
  }

  /** Passes each event to the filter, without the empty lines between them. Returns the end of the last one. */
  #pushEvents(chunk: Buffer): number {
    const edited = new EditedChunk(chunk);
    const compared = this.#knownEvents ? new ComparedBytes(chunk) : null;
    let from = 0;
    for (;;) {
      // Empty lines have no meaning but may be numerous, so they skip the filter.
      if (this.#isBetweenEvents) from = afterEmptyLines(chunk, from, this.#lineEnd ?? LF);
      const knownEvent = compared && this.#isBetweenEvents ? this.#knownEvents?.find(compared, from) : null;
      const end = knownEvent ? knownEvent.end : this.#endOfEvent(chunk, from);
      if (end === -1) break;
      if (!knownEvent) this.#filterEvent(edited, from, end);
      else if (knownEvent.cutEnd > knownEvent.cutStart) edited.replace(knownEvent.cutStart, knownEvent.cutEnd, null);
      from = end;
    }
    const passed = edited.upTo(from);
    if (passed) this.#write(passed);
    return from;
  }

  get #isBetweenEvents(): boolean {
    return this.#heldBytes === 0 && !this.#insideLargeEvent;
  }

  #filterEvent(edited: EditedChunk, from: number, end: number): void {
    if (!this.#insideLargeEvent) {
      const part = edited.chunk.subarray(from, end);
      const result = this.#heldBytes > 0 ? this.#filterHeld(part) : this.#filter(part, true);
      if (result !== part) edited.replace(from, end, result);
      this.#forgetHeld();
    }
    this.#eventEnded();
  }

  /** For an event that arrived in more than one chunk. */
  #filterHeld(part: Buffer): Buffer | null {
    const event = Buffer.concat([...this.#heldParts, part]);
    const knownEvent = this.#knownEvents?.find(new ComparedBytes(event), 0);
    if (!knownEvent) return this.#filter(event, true);
    const edited = new EditedChunk(event);
    edited.replace(knownEvent.cutStart, knownEvent.cutEnd, null);
    return edited.upTo(event.length);
  }

  #endOfEvent(chunk: Buffer, from: number): number {
    return firstEventEnd(chunk, from, this.#atLineStart, this.#lineEnd ?? LF);
  }

  #eventEnded(): void {
    this.#insideLargeEvent = false;
    this.#atLineStart = true;
  }

  #hold(part: Buffer): void {
    this.#atLineStart = isAtLineStart(part, this.#atLineStart, this.#lineEnd ?? LF);
    if (this.#insideLargeEvent) {
      this.#write(part);
      return;
    }
    this.#heldParts.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes <= this.#maxHeldBytes) return;
    this.#insideLargeEvent = true;
    this.#filter(Buffer.concat(this.#heldParts), false);
    this.#sendHeld();
  }

  #forgetHeld(): void {
    if (this.#heldBytes === 0) return;
    this.#heldParts = [];
    this.#heldBytes = 0;
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

function isAtLineStart(part: Buffer, before: boolean, lineEnd: number): boolean {
  const end = lineEnd === LF && part.at(-1) === CR ? part.length - 1 : part.length;
  return end === 0 ? before : part[end - 1] === lineEnd;
}

/** End of the line that the terminator at `at` closes, without the CR of a CRLF. */
function contentEnd(chunk: Buffer, at: number): number {
  return chunk[at] === LF && at > 0 && chunk[at - 1] === CR ? at - 1 : at;
}

/** Skips empty lines; `from` must be the start of a line. */
function afterEmptyLines(chunk: Buffer, from: number, lineEnd: number): number {
  let at = from;
  for (;;) {
    if (chunk[at] === lineEnd) at++;
    else if (lineEnd === LF && chunk[at] === CR && chunk[at + 1] === LF) at += 2;
    else return at;
  }
}

/** Offset after the first blank line at or after `from`, or -1. */
function firstEventEnd(chunk: Buffer, from: number, atLineStart: boolean, lineEnd: number): number {
  let lineStart = from;
  let emptyBefore = atLineStart;
  for (let at = chunk.indexOf(lineEnd, lineStart); at !== -1; at = chunk.indexOf(lineEnd, lineStart)) {
    if (contentEnd(chunk, at) === lineStart && emptyBefore) return at + 1;
    lineStart = at + 1;
    emptyBefore = true;
  }
  return -1;
}
