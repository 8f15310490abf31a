/** The result of an attempt. */
import type { Failure } from '../apis/core/failure.ts';
import type { UpstreamError } from '../apis/core/upstream-error.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import type { TransportError } from '../transport/transport-error.ts';

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

/** Classifies failures that are not HTTP errors: no connection, silence, damaged responses. */
export function classifyTransport(error: TransportError): Failure {
  if (error.fault === 'shortage') return { class: 'shortage', retryable: false, retryAfterMs: null };
  const isSilence = error.fault === 'timeout' && error.phase !== 'connect';
  // A bad certificate, a failing proxy and a host that accepts no connection in time will not recover within a second.
  const retryable = ['refused', 'reset', 'dns', 'malformed'].includes(error.fault);
  const failure: Failure = { class: isSilence ? 'silent' : 'transient', retryable, retryAfterMs: null };
  return error.isStale ? { ...failure, isStale: true } : failure;
}

/** A damaged, truncated or empty response; a retry may succeed. */
export const damagedFailure: Failure = { class: 'transient', retryable: true, retryAfterMs: null };

/** Gemini's malformed calls. They say nothing about the service, and the request is asked once more at most. */
export const malformedCallFailure: Failure = { ...damagedFailure, retryable: false, isMalformedCall: true };

/** A malformed call after content, which is not bought again, here or elsewhere. */
export const malformedAfterContentFailure: Failure = { ...damagedFailure, retryable: false, isSpent: true };

/** An answer without end; a retry would be as long. */
export const endlessFailure: Failure = { ...damagedFailure, retryable: false };

/** A rescue's answer differs from the beginning that the client has. */
export const differingFailure: Failure = { class: 'rejected', retryable: false, retryAfterMs: null };

/** A redirect, which is not followed: the provider's base URL is wrong. */
export const redirectFailure: Failure = { class: 'model-unavailable', retryable: false, retryAfterMs: null };

/** The class of any failure after content has been sent. */
export function afterContent({ retryable, retryAfterMs }: Failure): Failure {
  return { class: 'stream-broken', retryable, retryAfterMs };
}

/** A response that broke off without an error from the upstream. */
export function brokenFailure(retryable: boolean): Failure {
  return { class: 'stream-broken', retryable, retryAfterMs: null };
}
