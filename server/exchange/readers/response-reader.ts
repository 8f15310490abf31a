/**
 * A reader takes the bytes of one upstream response and returns steps: what the bytes mean for the attempt. It has no
 * attempt, socket or timer, and calls no one; only `attempt.ts` acts on its steps.
 */

import type { Failure } from '../../apis/core/failure.ts';
import type { Route } from '../../apis/core/route.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { UpstreamAnswer } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';

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
   * These bytes complete the client's response. `plain`: a whole answer, decompressed. `hasFailed`: the response itself
   * ended with an error, which the client has received.
   */
  | { kind: 'complete'; bytes?: Buffer; plain?: Buffer; hasFailed?: true }
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
