/** Classifies failures that are not HTTP errors: no connection, silence, damaged responses. */

import type { Failure } from '../apis/core/failure.ts';
import type { TransportError } from '../transport/transport-error.ts';

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
