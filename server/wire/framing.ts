/** How the events of a stream are told apart on the wire: server-sent events, or whatever else an API sends. */
import type { StreamEvent } from './sse-event.ts';

/**
 * Sees each event with what ends it and returns what is to be sent in its place: the same buffer, another, or null for
 * nothing. Of an event too large to be held it sees the beginning (`whole` false), which is sent whatever it returns.
 */
export type EventFilter = (event: Buffer, whole: boolean) => Buffer | null;

/** An event that the filter need not see. */
interface KnownEvent {
  /** Offset after what ends it. */
  end: number;
  /** What of it is not sent; empty where all is. */
  cutStart: number;
  cutEnd: number;
}

export interface GateOptions {
  filter: EventFilter;
  /** Asked of each event before the filter. */
  known?: { find(chunk: Buffer, from: number): KnownEvent | null };
  maxHeldBytes?: number;
}

/** Lets the bytes of one stream through, whole events only. */
export interface EventGate {
  push(chunk: Buffer): void;
  /** Part of an event has been sent, so nothing may be put in before its end. */
  readonly insideEvent: boolean;
  /** What follows the last event's end and has not been sent. */
  takeRest(): Buffer;
}

/**
 * What a stream leaves after the end of its last event. `event`: one that merely lacks its end. `piece`: the beginning of
 * one that no client could read.
 */
export type RestKind = 'event' | 'piece' | 'nothing';

export interface Framing {
  /** What such a stream is called where Sluice has to name it. */
  readonly contentType: string;
  /** Whether a response of that content type is such a stream. */
  isStream(contentType: string): boolean;
  openGate(write: (bytes: Buffer) => void, options: GateOptions): EventGate;
  /**
   * Null for one whose data no client could parse; `data` is empty only of one that has none, which no client is to get.
   * `event`: a whole one, with what ends it or without.
   */
  readEvent(event: Buffer): StreamEvent | null;
  /** What can be told by the beginning of an event that is too large to be held. */
  readBeginning(bytes: Buffer): StreamEvent;
  /** No more than that a connection lives. */
  saysNothing(event: Buffer): boolean;
  kindOfRest(rest: Buffer, event: StreamEvent | null): RestKind;
  /** Whether bytes that should be a stream of events begin as one; no where an answer that is whole may begin so too. */
  beginsLikeAnEvent(bytes: Buffer): boolean;
  /** What may be put in between two events to keep a connection alive; null where there is nothing of that kind. */
  readonly keepAlive: Buffer | null;
}
