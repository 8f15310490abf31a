/**
 * A reader is given the bytes of one upstream response and answers with steps: what the bytes mean for the attempt. It
 * holds no attempt, no socket and no timer, and calls nobody; `attempt.ts` alone acts on its steps.
 */
import type { GatewayError } from '../../contract/errors.ts';
import type { UpstreamAnswer } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import type { Failure } from '../../wire/failure.ts';
import type { Route } from '../../wire/route.ts';

/** What a response answers, as far as its reader has to know. */
export interface Asked {
  route: Route;
  /** Of the client's request. */
  method: string;
  isStreamAsked: boolean;
  /** A transcript was asked for as text or subtitles. */
  isTextAsked: boolean;
  /** The answer is to be read, so that it has to come without compression. */
  isTranslated: boolean;
  /** The upstream keeps the answer, or works on at it: a second one would be another. */
  isKept: boolean;
}

/** Status and headers of an upstream response. */
export interface ResponseHead {
  status: number;
  headers: ResponseHeaders;
}

/** Why an attempt failed. */
export type FailureReason =
  /** `event`: the error as it stood in the stream, with its blank line, where it came in one. */
  | { kind: 'answer'; failure: Failure; answer: UpstreamAnswer; event?: Buffer }
  /** `what` follows "Provider … ", for a person. */
  | { kind: 'damage'; what: string; failure?: Failure }
  | { kind: 'transport'; error: TransportError }
  /** It says something else than what the client has of the stream that broke. */
  | { kind: 'divergence' };

/** One thing that a reader found. `fail`, `hand-over`, `break`, `complete` and `reread` are the last of their reader. */
export type Step =
  /** Nothing of the answer is here yet: it has to come within `firstContentMs`. */
  | { kind: 'wait' }
  /** The first of the answer is here. */
  | { kind: 'content' }
  /** More of use came; more has to follow. */
  | { kind: 'alive' }
  /** An event that no client could parse was left out. */
  | { kind: 'dropped' }
  /** Headers for the client that differ from the upstream's. Before any `pass`. */
  | { kind: 'headers'; headers: ResponseHeaders }
  /** Bytes for the client. The first of them make this attempt the answer. */
  | { kind: 'pass'; bytes: Buffer }
  /** It is something else than its headers say: to be read again from these bytes. `isWhole`: nothing follows them. */
  | { kind: 'reread'; headers: ResponseHeaders; bytes: Buffer; isWhole: boolean }
  /**
   * The client has the whole answer with these bytes. `document`: what they say, where they were parsed. `hasFailed`: its
   * own last word is an error, which the client has.
   */
  | { kind: 'complete'; bytes?: Buffer; document?: Record<string, unknown> | undefined; hasFailed?: true }
  /** The attempt is of no use, or of no more. */
  | { kind: 'fail'; reason: FailureReason }
  /** The client has the beginning; another attempt may bring the rest. Else it is told of this error. */
  | { kind: 'hand-over'; error: GatewayError }
  /** The client has the beginning and nobody can go on: this event tells it so, or a connection that breaks (null). */
  | { kind: 'break'; error: GatewayError; event: string | null };

export type Steps = readonly Step[];

/** Of one response. Exactly one of `end` and `fail` comes last. */
export interface ResponseReader {
  read(chunk: Buffer): Steps;
  /** A promise where the body has to be decompressed first. */
  end(): Steps | Promise<Steps>;
  fail(error: TransportError): Steps;
  /** The client has all there was to have, although the upstream has not ended yet. */
  isComplete?(): boolean;
  /** It is complete as far as can be seen, but more may follow. */
  mayGoOn?(): boolean;
  /** Bytes in memory, of a whole answer from a length on that counts. */
  readonly heldBytes?: number;
  /** Memory is short: what is held passes, if it is long. */
  letPass?(): Steps;
  /** Half an event is with the client: nothing can be put in. */
  readonly isInsideEvent?: boolean;
  /** What the upstream calls the answer that it brings the rest of, where it can be asked for later. */
  readonly responseId?: string | null;
}

export const nothingYet: Steps = [];

export const failWith = (reason: FailureReason): Step => ({ kind: 'fail', reason });

export const damagedBy = (what: string, failure?: Failure): Step =>
  failWith({ kind: 'damage', what, ...(failure && { failure }) });

export const brokenTransport = (error: TransportError): Step => failWith({ kind: 'transport', error });
