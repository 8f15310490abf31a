/** How the events of a stream are separated on the wire: server-sent events, or an API's own format. */
import type { ComparedBytes } from '../../ground/compared-bytes.ts';
import type { StreamEvent } from './sse-event.ts';

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

/** How much of the end of an event may matter: its finish reason stands behind the text or the image. */
const largeEndBytes = 4 * 1024;

/** The last bytes of an event that passes in pieces. */
export class LargeEnd {
  #bytes = Buffer.alloc(0);

  add(piece: Buffer): void {
    const joined = piece.length >= largeEndBytes ? piece : Buffer.concat([this.#bytes, piece]);
    this.#bytes = Buffer.from(joined.subarray(-largeEndBytes));
  }

  take(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    return bytes;
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
