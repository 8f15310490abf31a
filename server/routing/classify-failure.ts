/**
 * What kind of failure it is that an upstream could not be reached, fell silent or sent what is none. Pure; must not know
 * which targets there are or what is done about it.
 */
import type { TransportError } from '../transport/transport-error.ts';
import type { Failure } from '../wire/failure.ts';

export function classifyTransport(error: TransportError): Failure {
  const isSilence = error.fault === 'timeout' && error.phase !== 'connect';
  // A certificate, a proxy or a host that takes no connection in time is not better a moment later.
  const mayPass = ['refused', 'reset', 'dns', 'malformed'].includes(error.fault);
  return { class: isSilence ? 'silent' : 'transient', mayPass, retryAfterMs: null };
}

/** Of a reply that is damaged, cut or none: the target may do better a moment later. */
export const fleetingFailure: Failure = { class: 'transient', mayPass: true, retryAfterMs: null };

/** Of an answer without end: once more would be as long. */
export const endlessFailure: Failure = { ...fleetingFailure, mayPass: false };

/** Another answer than the one the client has begun to get; the same target would not change its mind. */
export const differingFailure: Failure = { class: 'rejected', mayPass: false, retryAfterMs: null };

/** Of a redirect that is not followed: the provider's base URL is not where its API is. */
export const redirectFailure: Failure = { class: 'model-unavailable', mayPass: false, retryAfterMs: null };

/** What it is once content has gone out: whatever the reason, the stream broke. */
export function afterContent({ mayPass, retryAfterMs }: Failure): Failure {
  return { class: 'stream-broken', mayPass, retryAfterMs };
}

/** Of a reply that broke off without a word of the upstream. */
export function brokenFailure(mayPass: boolean): Failure {
  return { class: 'stream-broken', mayPass, retryAfterMs: null };
}
