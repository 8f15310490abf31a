/**
 * A reader takes the bytes of one upstream response and returns steps: what the bytes mean for the attempt. It has no
 * attempt, socket or timer, and calls no one; only `attempt.ts` acts on its steps.
 */

import type { Route } from '../../apis/core/api.ts';
import { statusOfError } from '../../apis/core/errors/error-names.ts';
import { type Failure, failureBy } from '../../apis/core/errors/verdict.ts';
import type { Framing, StreamFormat, StreamWatch } from '../../apis/core/stream-format.ts';
import type { UpstreamError } from '../../apis/core/upstream-error.ts';
import type { StreamText, WholeAnswer } from '../../apis/core/wire.ts';
import { type ErrorBody, GatewayError } from '../../contract/errors.ts';
import { endlessFailure, type UpstreamAnswer } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';

/** What a reader needs to know about the request. */
export interface RequestFacts {
  route: Route;
  /** Of the client's request. */
  method: string;
  isStreamAsked: boolean;
  /** The client asked for a transcript as text or subtitles. */
  isTextAsked: boolean;
  /** The answer will be translated, so it has to be requested uncompressed. */
  isTranslated: boolean;
  /** Writes the errors of a cloud in the words of the route's API; absent if they are in these. */
  errorBody?: ErrorRewriting | undefined;
  /** The upstream stores the answer or continues to work on it, so asking again would create a second one. */
  isKept: boolean;
  /** The upstream works on in the background, whether this answer arrives or not: what names the work is what was asked for. */
  isBackground?: boolean;
  /** The answer tells what became of a response that the upstream stores, or works on in the background. */
  tellsOutcome?: boolean;
}

type ErrorRewriting = (status: number, headers: ResponseHeaders, body: Buffer) => Buffer;

/** Status and headers of an upstream response. */
export interface ResponseHead {
  status: number;
  headers: ResponseHeaders;
}

/** Why an attempt failed. */
export type FailureReason =
  /** `event`: for an error in a stream, the original bytes with the blank line. */
  | { kind: 'answer'; failure: Failure; answer: UpstreamAnswer; event?: Buffer }
  /** `problem` completes the sentence "Provider … ". */
  | { kind: 'damage'; problem: string; failure?: Failure }
  | { kind: 'transport'; error: TransportError }
  /** It contradicts what the client has of the broken stream. */
  | { kind: 'divergence' };

/** Something that a reader found. `fail`, `hand-over`, `break`, `complete` and `reread` are a reader's last step. */
export type Step =
  /** There is no content yet; it has to arrive within `firstContentMs`. */
  | { kind: 'wait' }
  /** The first content arrived. */
  | { kind: 'content' }
  /** More useful bytes arrived, and the answer needs more. */
  | { kind: 'alive' }
  /** An event that no client could parse was left out. */
  | { kind: 'dropped' }
  /** An event that passes to the client is an error with this message. */
  | { kind: 'error-event'; message: string }
  /** Headers for the client that differ from the upstream's. Precedes any `pass`. */
  | { kind: 'headers'; headers: ResponseHeaders }
  /** Bytes for the client. The first ones make this attempt the answer. */
  | { kind: 'pass'; bytes: Buffer }
  /** The response is not what its headers say: read it again from these bytes. `isWhole`: nothing follows them. */
  | { kind: 'reread'; headers: ResponseHeaders; bytes: Buffer; isWhole: boolean }
  /**
   * These bytes complete the client's response. `whole`: an answer that was held until its end. `hasFailed`: the response
   * itself ended with an error, which the client has received.
   */
  | { kind: 'complete'; bytes?: Buffer; whole?: WholeAnswer; hasFailed?: true }
  /** The attempt failed, and the client has nothing of it. */
  | { kind: 'fail'; reason: FailureReason }
  /** The client has the beginning; another attempt may deliver the rest. Otherwise the client gets this error. */
  | { kind: 'hand-over'; error: GatewayError }
  /**
   * The client has the beginning and no attempt can continue: ends with this event, or by breaking the connection (null).
   */
  | { kind: 'break'; error: GatewayError; event: string | null };

export type Steps = readonly Step[];

/** Reads one response. The last call is exactly one of `end` and `fail`. */
export interface ResponseReader {
  read(chunk: Buffer): Steps;
  /** A promise if the body has to be decompressed first. */
  end(): Steps | Promise<Steps>;
  fail(error: TransportError): Steps;
  /** The client has the complete response, although the upstream has not ended it yet. */
  isComplete?(): boolean;
  /** The model has finished; only the usage and the end of the response may be missing. */
  readonly hasFinished?: boolean;
  /** The response seems complete, but more may follow. */
  mayContinue?(): boolean;
  /** Bytes held in memory; 0 for short responses. */
  readonly heldBytes?: number;
  /** Memory is short: passes on what is held, if it is long. */
  releaseHeld?(): Steps;
  /** The client has part of an event, so nothing can be inserted. */
  readonly isInsideEvent?: boolean;
  /** The event that tells the client why its stream ends here; null where none can stand. Absent: there are no events. */
  errorEvent?(error: GatewayError): string | null;
  /** What is missing of an answer that the model has finished, as far as clients look; null if more of it is. */
  readonly missingEnd?: Buffer | null;
  /** The upstream's id of the response that it continues, if that can be fetched later. */
  readonly responseId?: string | null;
}

export const nothingYet: Steps = [];

export const failWith = (reason: FailureReason): Step => ({ kind: 'fail', reason });

export const damagedBy = (problem: string, failure?: Failure): Step =>
  failWith({ kind: 'damage', problem, ...(failure && { failure }) });

/** Completes the sentence "Provider … ". */
export const unreadableCall = 'answered with a call of a tool that it could not read itself';

export const brokenTransport = (error: TransportError): Step => failWith({ kind: 'transport', error });

// How a stream that broke is told to its client, and what of its events is left out.

/** The error for a response that breaks after it has begun. */
export function brokenBy(error: TransportError): GatewayError {
  return error.fault === 'timeout'
    ? new GatewayError('upstream_timeout', `The provider did not finish its answer in time (${error.message}).`, {
        cause: error,
      })
    : new GatewayError(
        'upstream_stream_broken',
        `The provider ${error.fault === 'malformed' ? 'sent something unreadable' : 'disconnected'} in the middle of its answer (${error.message}).`,
        { cause: error },
      );
}

/** Longer than any response except a video. */
export const maxResponseBytes = 256 * 1024 * 1024;

/**
 * The longest event of a stream. An image of 3840 × 2160 needs up to 44 MiB (8.3 million pixels of four bytes,
 * uncompressed, in base64), so no smaller bound would do (openai-node#2433 reverted one of 8 MiB).
 */
export const maxStreamedEventBytes = 64 * 1024 * 1024;

/** Limit for held events of a stream that can be rescued: events of the Responses API repeat its instructions and tools. */
export const maxTextEventBytes = 512 * 1024;

export function endlessEvent(): TransportError {
  return new TransportError('malformed', 'body', 'an event without end');
}

/** If nothing of the stream has been sent. */
export const endlessStep = damagedBy('sent an event without end', endlessFailure);

export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
  );
}

/** The last step of a stream that broke after it had begun. `text` is null if no other target may continue it. */
export function brokenStep(
  error: GatewayError,
  isInsideEvent: boolean,
  watch: StreamWatch,
  text: StreamText | null,
): Step {
  if (isInsideEvent) return { kind: 'break', error, event: null };
  const soFar = text?.read() ?? null;
  if (soFar) return { kind: 'hand-over', error };
  return { kind: 'break', error, event: watch.errorEvent(error.toBody().error) };
}

/** A stream with more events that clients could not parse is treated as broken. */
const maxDroppedEvents = 1_000;

/** The events of a stream that no client could parse, and that are left out for that. */
export class DroppedEvents {
  readonly #framing: Framing;
  #count = 0;
  /** One of them may have been a piece of the answer. */
  #hasLost = false;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  add(event: Buffer): void {
    this.#count++;
    this.#hasLost ||= this.#framing.mayBeContent(event);
  }

  /** The rest would be an answer with a hole, or never end. */
  get breakStream(): boolean {
    return this.#hasLost || this.#count >= maxDroppedEvents;
  }

  get problem(): TransportError {
    const problem = this.#hasLost ? 'an event that is no valid JSON' : `${maxDroppedEvents} events that are no JSON`;
    return new TransportError('malformed', 'body', problem);
  }
}

/** An error event of a stream. */
export interface ErrorEvent {
  error: UpstreamError;
  /** The original bytes, with the blank line, and what the client's API needs to know them for an error. */
  bytes: Buffer;
}

/** The stream that contains the event. */
export interface Streamed {
  format: StreamFormat;
  /** The response's headers. */
  headers: ResponseHeaders;
  /** As in `RequestFacts`. */
  tellsOutcome?: boolean | undefined;
  isBackground?: boolean | undefined;
  /** The client gets the stream in another API's words. */
  isTranslated?: boolean;
}

/** The options of a reader of whole streams. */
export interface EventsOptions extends Streamed {
  /** How many choices or images the stream carries in parallel. */
  answers: number;
  /** Sluice alone asked for usage, so it has to be removed again. */
  stripUsage: boolean;
  /** Collects what the client has, so that another target can continue; null if none may. */
  text: StreamText | null;
}

export function errorBodyOf(error: UpstreamError): ErrorBody {
  const message = error.message || 'The provider told of an error and did not say which.';
  return { message, type: error.type || 'server_error', param: error.param, code: error.code || null };
}

type Refusal = Extract<FailureReason, { kind: 'answer' }>;

/**
 * Holds the error for the case that no other target succeeds: as the HTTP error that it stands for, or unchanged if the
 * client already has a stream.
 */
export function refusalOf({ error, bytes }: ErrorEvent, { format, headers }: Streamed): Refusal {
  const status = statusOfError(error);
  const body = Buffer.from(format.writeError(errorBodyOf(error)));
  const failure = failureBy({ status, headers, error, isAboutJob: false });
  const bodyHeaders = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return {
    kind: 'answer',
    failure,
    answer: { status, headers: { ...headers, ...bodyHeaders }, body, error },
    event: bytes,
  };
}
