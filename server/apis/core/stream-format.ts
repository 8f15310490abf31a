/** One wire's stream format. Pure: bytes and values in, bytes and values out. */
import type { ErrorBody } from '../../contract/errors.ts';
import type { Framing } from './framing.ts';
import type { StreamEvent } from './sse-event.ts';
import type { UpstreamError } from './upstream-error.ts';

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
