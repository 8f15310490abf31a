/** The result of an attempt. */

import type { Failure } from '../apis/core/failure.ts';
import type { UpstreamError } from '../apis/core/upstream-error.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { ResponseHeaders } from '../transport/transport.ts';

/** A complete upstream response that was not sent to the client. */
export interface UpstreamAnswer {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
  /** The parsed error; null if the body has no known form. */
  error: UpstreamError | null;
  /** It is a page for people, which a proxy or a firewall on the way may have sent. */
  isPage?: boolean;
}

export interface HeldAnswer extends UpstreamAnswer {
  provider: string;
  /** The upstream's error code, with secrets removed. */
  errorCode: string | null;
  /** The error's event, including its blank line, if it came in a stream. */
  event?: Buffer;
}

/** What the client gets for this failure unless another attempt succeeds: the upstream's answer or an error of Sluice's. */
export type FailureResponse = { kind: 'answer'; answer: HeldAnswer } | { kind: 'error'; error: GatewayError };

export type AttemptResult =
  /** The client has its answer, or an error event after a broken stream. */
  | { kind: 'answered'; failure: FailureClass | null }
  /** The client disconnected, or another attempt was faster. */
  | { kind: 'given-up' }
  | FailedAttempt;

export interface FailedAttempt {
  /**
   * `failed`: the client has received nothing. `broken`: it has the beginning, and another target may deliver the rest.
   */
  kind: 'failed' | 'broken';
  failure: Failure;
  failureResponse: FailureResponse;
}
