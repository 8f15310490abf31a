/** What has to be known of one wire's streams. Pure: bytes and values in, bytes and values out. */
import type { ErrorBody } from '../contract/errors.ts';
import type { Framing } from './framing.ts';
import type { StreamEvent } from './sse-event.ts';
import type { UpstreamError } from './upstream-error.ts';

/** What one event says to a client: something of the answer, an error, a sign that the model is at work, or nothing. */
export type Saying = { kind: 'nothing' | 'alive' | 'content' } | { kind: 'error'; error: UpstreamError };

/** `failed`: the upstream itself has told the client of an error, so nothing is to be added. */
export type StreamEnd = 'complete' | 'failed';

/** Whether the upstream ended the stream in good order. `cut`: the connection broke, or an event is only half there. */
export type StreamClose = 'ended' | 'cut';

/** Follows one stream. */
export interface StreamWatch {
  /** To be told of each event that the client gets, but for those that are like one before it in all but their text. */
  note(event: StreamEvent): void;
  /** The number of such an event. */
  counted(sequenceNumber: number): void;
  /** Nothing is missing, or nothing more is to come, but for the end itself. */
  readonly isComplete: boolean;
  /** It is complete as far as can be seen, but its last word has not come: usage may follow, or after all a text. */
  readonly mayGoOn: boolean;
  /** How the stream has ended; null while more is due. */
  ending(close: StreamClose): StreamEnd | null;
  /** The event that makes the API's SDKs raise `error`. */
  errorEvent(error: ErrorBody): string;
}

export interface StreamFormat {
  readonly framing: Framing;
  /** `alive`: its model is at work, though it says nothing. Comments and pings may come from whatever stands between. */
  sayingOf(event: StreamEvent): Saying;
  /** `answers`: how many answers the stream brings beside one another, or how many pictures. */
  watch(answers: number): StreamWatch;
  /** An error that came in place of the answer, as the body of a response in JSON. */
  writeError(error: ErrorBody): string;
  /** A whole answer as the stream that a client waits for; null where it cannot be told as one. */
  ofWhole(whole: Record<string, unknown>): string | null;
  /** Takes usage out again that Sluice alone asked for; null for an event that goes altogether. Absent: it is always there. */
  withoutUsage?(event: Buffer): Buffer | null;
  /** A silence before any upstream has answered may be filled with comments, so that what follows has to be a stream. */
  readonly mayBeginEarly: boolean;
  /** Only the response tells that it is a stream: the request says so in a way of its own. */
  readonly isToldByResponse: boolean;
}
