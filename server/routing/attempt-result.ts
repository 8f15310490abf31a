/** The result of an attempt, and the error that a client gets if all of them failed: the most useful one. */
import type { Failure } from '../apis/core/errors/verdict.ts';
import type { UpstreamError } from '../apis/core/upstream-error.ts';
import { type ErrorBody, GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import type { TransportError } from '../transport/transport-error.ts';
import type { Target } from './snapshot.ts';

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
  const failure: Failure = {
    class: isSilence ? 'silent' : 'transient',
    retryable,
    retryAfterMs: null,
    ...(error.fault !== 'aborted' && { fault: error.fault }),
  };
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

// Chooses the error that a client gets if all attempts failed: the most useful one.

/**
 * Most useful first: errors of the request itself, then those that say when to retry. Misconfigured and unreachable
 * targets concern the client least.
 */
const byUsefulness: readonly FailureClass[] = [
  'stream-broken',
  'rejected',
  'too-large',
  'rate-limit',
  'quota',
  'shortage',
  'transient',
  'model-unavailable',
  'credential',
  'silent',
  'lost',
  'client-gone',
];

/** Of two equally useful errors, the later one. A broken stream is reported as such, whatever came after it. */
export function moreUseful(earlier: FailedAttempt | null, later: FailedAttempt): FailedAttempt {
  return earlier && rank(earlier) < rank(later) ? earlier : later;
}

function rank({ kind, failure, failureResponse }: FailedAttempt): number {
  // Whatever else went wrong, the client must know that it may have bought something.
  if (kind === 'broken' || failure.isLost) return -1;
  if (failure.isOnlyHere) return byUsefulness.indexOf('model-unavailable');
  // A provider that could not be reached has reported nothing that helps the client.
  const isSilent = failure.class === 'transient' && failureResponse.kind === 'error';
  return isSilent ? byUsefulness.length : byUsefulness.indexOf(failure.class);
}

/** Null if the upstream named no code. */
export function errorCodeOf(failureResponse: FailureResponse): string | null {
  return failureResponse.kind === 'error'
    ? (failureResponse.error.kind.code ?? failureResponse.error.code)
    : failureResponse.answer.errorCode;
}

/** The error as an OpenAI error object, for use within a stream. */
export function errorBodyOf(failureResponse: FailureResponse): ErrorBody {
  if (failureResponse.kind === 'error') return failureResponse.error.toBody().error;
  const { status, error: upstreamError } = failureResponse.answer;
  const message = upstreamError?.message || `The provider answered with status ${status}.`;
  return {
    message,
    type: upstreamError?.type || 'server_error',
    param: upstreamError?.param ?? null,
    code: upstreamError?.code || null,
  };
}

export function errorOfTransport({ provider }: Target, error: TransportError): GatewayError {
  const name = nameOf(provider);
  const options = { cause: error };
  if (error.fault === 'shortage') return machineOverloaded(error.message, error);
  if (error.fault === 'timeout') {
    const problem = error.phase === 'connect' ? 'accepted no connection' : 'sent no answer';
    return new GatewayError('upstream_timeout', `${name} ${problem} in time (${error.message}).`, options);
  }
  if (error.fault === 'malformed' && error.phase === 'headers') return damageOf({ provider }, `sent ${error.message}`);
  if (error.phase === 'body')
    return new GatewayError('upstream_unreachable', `${name} broke off its answer: ${error.message}.`, options);
  return new GatewayError('upstream_unreachable', `${name} cannot be reached: ${error.message}.`, options);
}

/** Says nothing about a provider. `reason` is the system's. */
export function machineOverloaded(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'machine_overloaded',
    `The machine that Sluice runs on has no descriptors, ports or memory left (${reason}). No provider is at fault; try again in a moment. A higher limit on open files (ulimit -n) allows more requests at the same time.`,
    { retryAfterSeconds: 2, cause },
  );
}

export function errorOfRedirect({ provider }: Target, location: string): GatewayError {
  return new GatewayError(
    'upstream_redirected',
    `${nameOf(provider)} answered with a redirect to ${location}, which is not followed with its credential. ` +
      'Set its base URL to where the API really is.',
  );
}

/**
 * Replaces an upstream's error about the provider's account, which the client would take for one about its own key. Null for
 * other errors, and for 429, since SDKs know `insufficient_quota`. Quotes nothing from the upstream, which may echo secrets.
 */
export function errorOfAccount({ provider }: Target, failure: FailureClass, status: number): GatewayError | null {
  if (failure === 'credential')
    return new GatewayError('provider_credential_refused', refusedCredential(provider, ` (status ${status})`));
  if (failure !== 'quota' || status === 429) return null;
  const message = `${nameOf(provider)} says that the quota or credit of its account is used up (status ${status}). Add credit there, or set a credential of another account. ${isAboutProvider}`;
  return new GatewayError('provider_quota_exhausted', message);
}

/** Answers a request whose provider refused its credential a moment ago, without asking it. `waitMs`: the next one that does. */
export function errorOfRefusal({ provider }: Target, waitMs: number): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `${refusedCredential(provider, '')} It was not asked; the first request after ${retryAfterSeconds} s asks it again. Nothing was lost or billed.`;
  return new GatewayError('provider_credential_refused', message, { retryAfterSeconds });
}

/** Answers a request whose provider has told when to come again, without asking it: it may count what it refuses. */
export function errorOfHeldBack({ provider, model }: Target, waitMs: number): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const what = model === null ? '' : ` for "${model}"`;
  const message = `${nameOf(provider)} has reached its rate limit${what} and asked to be left alone for another ${retryAfterSeconds} s. It was not asked; nothing was lost or billed.`;
  return new GatewayError('provider_rate_limited', message, {
    retryAfterSeconds,
    headers: { 'retry-after-ms': String(Math.ceil(waitMs)) },
  });
}

function refusedCredential(provider: Target['provider'], status: string): string {
  const [problem, remedy] =
    provider.credentials.length === 0
      ? ['requires a credential and has none', 'Set one']
      : ['refused its credential', 'Set a valid one'];
  return `${nameOf(provider)} ${problem}${status}. ${remedy} (window, "Providers"; or \`sluice provider credential ${provider.id}\`). ${isAboutProvider}`;
}

const isAboutProvider = 'The key of this request is not the cause.';

/** Replaces the error of a purchase (`isPurchase`) whose outcome is unknown. `problem` says what became of its answer. */
export function errorOfLostPurchase({ provider }: Target, problem: string): GatewayError {
  const message =
    `${problem} ${nameOf(provider)} may have made what this request asked for, and billed it, so do not simply repeat the ` +
    'request. First look whether the result is there: in the list of such objects, or in the account at the provider.';
  return new GatewayError('purchase_outcome_unknown', message);
}

/** A sentence about an upstream's error. `redacted` removes secrets from its words. */
export function problemOf(
  { provider }: Target,
  failureResponse: FailureResponse,
  redacted: (words: string) => string,
): string {
  if (failureResponse.kind === 'error') return failureResponse.error.message;
  const { status, error } = failureResponse.answer;
  const words = error?.message ? ` (${redacted(error.message).slice(0, maxQuotedLength)})` : '';
  return `${nameOf(provider)} answered with status ${status}${words}.`;
}

const maxQuotedLength = 300;

/** A damaged or truncated response, or one of the wrong kind. `problem` follows `Provider "…" `. */
export function damageOf({ provider }: Pick<Target, 'provider'>, problem: string): GatewayError {
  return new GatewayError('upstream_malformed', `${nameOf(provider)} ${problem}.`);
}

function nameOf({ name, endpoint }: Target['provider']): string {
  return `Provider "${name}" (${new URL(endpoint.origin).host})`;
}
