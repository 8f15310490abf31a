/** One wire's stream format. Pure: bytes and values in, bytes and values out. */
import type { ErrorBody } from '../../contract/errors.ts';
import type { UpstreamError } from './upstream-error.ts';

/** One event of a stream, parsed once for all its consumers. */
export interface StreamEvent {
  /** From its `event` line; empty if it has none. */
  name: string;
  /** Its data lines, joined; empty if it has none. */
  data: string;
  /** The parsed data; undefined if there is none, and for `[DONE]`. */
  value: unknown;
}

/** What one event means to a client: content, an error, a sign that the model is working, or nothing. */
export type EventMeaning =
  | { kind: 'nothing' | 'alive' | 'content' }
  /** `isForeign`: in a form that the API's own clients do not know. */
  | { kind: 'error'; error: UpstreamError; isForeign?: true };

/** `failed`: the upstream itself has sent the client an error, so nothing is added. */
export type StreamEnd = 'complete' | 'failed';

/** Whether the upstream closed the stream properly. `cut`: the connection broke, or the last event is incomplete. */
export type StreamClose = 'ended' | 'cut';

/** Tracks the progress of one stream. */
export interface StreamWatch {
  /** Called with each event that the client gets, except those that match the shape of an earlier one. */
  note(event: StreamEvent): void;
  /** Called with the sequence number of an event that matched a shape. */
  counted(sequenceNumber: number): void;
  /** Nothing more is expected, except for the end of the stream. */
  readonly isComplete: boolean;
  /**
   * The model has finished, in so many words: a finish reason for each answer. Usage or the terminal event may be
   * missing. An upstream that sends a reason with each piece is believed too.
   */
  readonly hasFinished: boolean;
  /** The answer seems complete, but the terminal event is missing: usage or even text may follow. */
  readonly mayContinue: boolean;
  /**
   * The upstream has said why the answer ended: it is whole, whatever becomes of the rest of the stream. False for
   * upstreams that say so with each piece.
   */
  readonly isWhole: boolean;
  /**
   * The upstream has said why the answer ended, for each of several. Without that, the last event of a stream may come from a proxy
   * whose own upstream broke off.
   */
  readonly saysWhy: boolean;
  /** What such a stream still lacks for its client; empty if nothing. */
  readonly missingEnd: string;
  /** How the stream ended; null if it is incomplete. */
  ending(close: StreamClose): StreamEnd | null;
  /** The event that makes the API's SDKs raise `error`. */
  errorEvent(error: ErrorBody): string;
}

/** Converts a stream of server-sent events into another framing. */
export interface Repacking {
  /** @param events complete events */
  push(events: Buffer): Buffer;
  /** Returns the end of the stream. */
  end(): Buffer;
}

export interface StreamFormat {
  readonly framing: Framing;
  /** `alive`: the model is working. Comments and pings do not count, since a proxy may have sent them. */
  meaningOf(event: StreamEvent): EventMeaning;
  /**
   * Whether the event ends an answer without content by saying that the model's call could not be read: a translated
   * stream with nothing else is asked for once more. Absent if the API has no such end.
   */
  isMalformedCall?(event: StreamEvent): boolean;
  /** The members at the end of an event that is too large to be read, as in a small one; absent if none of them says how it ended. */
  readEnd?(end: string): unknown;
  /** `answers`: how many choices or images the stream carries in parallel. */
  watch(answers: number): StreamWatch;
  /** An error that arrived instead of the answer, as a JSON response body. */
  writeError(error: ErrorBody): string;
  /** Converts a whole answer into the stream that the client expects; null if that is not possible. */
  fromWhole(whole: Record<string, unknown>): string | null;
  /**
   * Removes usage that only Sluice requested; null if nothing of the event is left. Absent: usage is always part of the
   * stream.
   */
  withoutUsage?(event: Buffer): Buffer | null;
  /** Converts a translated stream, which is rendered as server-sent events; absent if the format is that already. */
  repack?(): Repacking;
  /** Comments may be sent before any upstream has answered, which commits the response to being a stream. */
  readonly mayBeginEarly: boolean;
  /** Only the response shows whether it is a stream; the request has no common field for it. */
  readonly isDecidedByResponse: boolean;
}

// How the events of a stream are separated on the wire: server-sent events, or an API's own format.

/**
 * Called with each event, including its terminator. Returns what is sent instead: the same buffer, another, or null for
 * nothing. Of an event that is too large to be held it gets the beginning (`whole` false), which is sent whatever it
 * returns.
 */
export type EventFilter = (event: Buffer, whole: boolean) => Buffer | null;

/** An event that the filter need not see. */
interface KnownEvent {
  /** Offset after the terminator. */
  end: number;
  /** The range that is not sent; empty if everything is. */
  cutStart: number;
  cutEnd: number;
}

export interface GateOptions {
  filter: EventFilter;
  /** Called for each event before the filter. */
  known?: { find(chunk: ComparedBytes, from: number): KnownEvent | null };
  maxHeldBytes?: number;
  /** Called with the last bytes of an event that was too large to be held. */
  largeEnd?: (end: Buffer) => void;
}

const usualMaxHeldBytes = 64 * 1024;
/** How much of the end of an event may matter: its finish reason stands behind the text or the image. */
const largeEndBytes = 4 * 1024;
const nothing = Buffer.alloc(0);

/** The event of a stream that has begun and not ended: held until its end or, if it is too large, passed in pieces. */
export class HeldEvent {
  readonly #write: (bytes: Buffer) => void;
  readonly #filter: EventFilter;
  readonly #maxBytes: number;
  readonly #largeEnd: GateOptions['largeEnd'];
  #parts: Buffer[] = [];
  #bytes = 0;
  #isLarge = false;
  /** The last bytes of a large one. */
  #end = nothing;

  constructor(write: (bytes: Buffer) => void, { filter, maxHeldBytes = usualMaxHeldBytes, largeEnd }: GateOptions) {
    this.#write = write;
    this.#filter = filter;
    this.#maxBytes = maxHeldBytes;
    this.#largeEnd = largeEnd;
  }

  /** No event has begun. */
  get isEmpty(): boolean {
    return this.#bytes === 0 && !this.#isLarge;
  }

  /** Part of it has been sent. */
  get isLarge(): boolean {
    return this.#isLarge;
  }

  /** A part that does not end it. */
  add(part: Buffer): void {
    if (this.#isLarge) {
      this.#keepEnd(part);
      this.#write(part);
      return;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) return;
    const beginning = this.take(nothing);
    this.#isLarge = true;
    this.#filter(beginning, false);
    this.#keepEnd(beginning);
    this.#write(beginning);
  }

  /** The last part of a large one, which the caller passes on. */
  endLarge(last: Buffer): void {
    this.#keepEnd(last);
    this.#largeEnd?.(this.#end);
    this.#end = nothing;
    this.#isLarge = false;
  }

  /** Returns and forgets what is held, with the last part. */
  take(last: Buffer): Buffer {
    if (this.#bytes === 0) return last;
    const bytes = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#bytes = 0;
    return bytes;
  }

  #keepEnd(piece: Buffer): void {
    const joined = piece.length >= largeEndBytes ? piece : Buffer.concat([this.#end, piece]);
    this.#end = Buffer.from(joined.subarray(-largeEndBytes));
  }
}

/** Passes the bytes of one stream, whole events only. */
export interface EventGate {
  push(chunk: Buffer): void;
  /** Part of an event has been sent, so nothing may be inserted before its end. */
  readonly insideEvent: boolean;
  /** Returns and forgets the unsent bytes after the last complete event. */
  takeRest(): Buffer;
}

/**
 * The data after the last terminator of a stream. `event`: a complete event that only lacks its terminator. `piece`: the
 * beginning of one, which no client could parse.
 */
export type RestKind = 'event' | 'piece' | 'nothing';

export interface Framing {
  /** The content type of such streams, for responses that Sluice creates. */
  readonly contentType: string;
  /** Whether a response with this content type is such a stream. */
  isStream(contentType: string): boolean;
  openGate(write: (bytes: Buffer) => void, options: GateOptions): EventGate;
  /**
   * Null for an event whose data no client could parse. `data` is empty only if the event has none; such events are not
   * sent to clients. `event`: complete, with or without its terminator.
   */
  readEvent(event: Buffer): StreamEvent | null;
  /** Of an event that `readEvent` could not read: whether it may be a damaged piece of the answer, and not just odd. */
  mayBeContent(event: Buffer): boolean;
  /** What the beginning reveals about an event that is too large to be held. */
  readPartialEvent(bytes: Buffer): StreamEvent;
  /** Whether the event only keeps the connection alive. */
  isKeepAlive(event: Buffer): boolean;
  kindOfRest(rest: Buffer, event: StreamEvent | null): RestKind;
  /** Whether bytes of an expected stream begin like an event; false if a whole answer may begin the same way. */
  beginsLikeAnEvent(bytes: Buffer): boolean;
  /** What may be inserted between two events to keep a connection alive; null if the format has nothing of the kind. */
  readonly keepAlive: Buffer | null;
}

/**
 * Bytes that are compared with others eight at a time. For the parts that differ between the events of a stream, a few
 * hundred bytes, this takes a third of the time of Node's own comparison, whose cost is mostly that of the call.
 */
export class ComparedBytes {
  readonly bytes: Buffer;
  readonly length: number;
  readonly #view: DataView;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.length = bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Whether the bytes at `from` equal all of `others`. */
  hasAt(from: number, others: ComparedBytes): boolean {
    const { length } = others;
    if (from + length > this.length) return false;
    const [view, otherView] = [this.#view, others.#view];
    const wordsEnd = length - (length % wordBytes);
    for (let at = 0; at < wordsEnd; at += wordBytes) {
      if (view.getBigUint64(from + at) !== otherView.getBigUint64(at)) return false;
    }
    for (let at = wordsEnd; at < length; at++) {
      if (view.getUint8(from + at) !== otherView.getUint8(at)) return false;
    }
    return true;
  }
}

const wordBytes = 8;
