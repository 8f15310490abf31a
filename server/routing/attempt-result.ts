/** What comes of an attempt, as the loop and whoever tells the client hear it. */
import type { GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import type { Failure } from '../wire/failure.ts';
import type { UpstreamError } from '../wire/upstream-error.ts';

/** An upstream's answer of which the client has seen nothing, whole. */
export interface UpstreamAnswer {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
  /** What the body says; null where that is none that is known. */
  error: UpstreamError | null;
}

export interface HeldAnswer extends UpstreamAnswer {
  provider: string;
  /** Its error's own name, without any secret. */
  errorCode: string | null;
  /** The same as an event, with its blank line, where it came in a stream. */
  event?: Buffer;
}

/** What the client is told of a failure if nobody does better. */
export type LastWord = { kind: 'answer'; answer: HeldAnswer } | { kind: 'error'; error: GatewayError };

export type AttemptResult =
  /** The client has its answer, or was told of its break: there is nothing more to decide. */
  | { kind: 'answered'; failure: FailureClass | null }
  /** The client has left, or another attempt was faster. */
  | { kind: 'given-up' }
  | FailedAttempt;

export interface FailedAttempt {
  /** `failed`: the client has seen nothing of it. `broken`: it has the beginning, and another target may have the rest. */
  kind: 'failed' | 'broken';
  failure: Failure;
  lastWord: LastWord;
}
