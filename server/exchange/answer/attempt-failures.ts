/** Failures of attempts: what the attempt loop, the record and the client are told of them. */
import { isRequestError } from '../../apis/core/errors/error-names.ts';
import { type Failure, mayHaveActed } from '../../apis/core/errors/verdict.ts';
import type { StreamFormat } from '../../apis/core/stream-format.ts';
import type { UpstreamError } from '../../apis/core/upstream-error.ts';
import type { StreamText } from '../../apis/core/wire.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { AttemptRecord, FailureClass } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { isResourceExhaustion } from '../../ground/resource-exhaustion.ts';
import {
  afterContent,
  brokenFailure,
  classifyTransport,
  damagedFailure,
  damageOf,
  differingFailure,
  errorBodyOf,
  errorCodeOf,
  errorOfAccount,
  errorOfLostPurchase,
  errorOfRedirect,
  errorOfTransport,
  type FailedAttempt,
  type FailureResponse,
  machineOverloaded,
  problemOf,
  redirectFailure,
} from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import { messageOf } from '../../store/rules/failures.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { FailureReason } from '../readers/response-reader.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { NonRepeatable } from '../request/outgoing-call.ts';
import type { ClientResponse } from './client-response.ts';

export interface AttemptFailure {
  failure: Failure;
  /** For the record. */
  message: string;
  failureResponse: FailureResponse;
}

type Progress = Pick<AttemptRecord, 'connectMs' | 'status'>;

interface FailedCall {
  target: Target;
  /** Part of the response has reached the client. */
  hasBegun: boolean;
  /** The target can be asked to continue from the text that the client already has. */
  mayContinue: boolean;
  /** What the request must not do twice, and how far the attempt came. Absent or null: it may be repeated. */
  once?: { kind: NonRepeatable; record: Progress } | null;
  /** Redacts secrets from upstream text, which may echo the request. */
  redacted(text: string): string;
}

/** Translates the reason of a failed attempt into what the attempt loop, the record and the client need. Pure. */
export function failureOf(reason: FailureReason, call: FailedCall): AttemptFailure {
  const attemptFailure = failureBy(reason, call);
  const { once, target } = call;
  if (!once || call.hasBegun) return attemptFailure;
  const { kind, record } = once;
  if (!mayHaveActed({ wasSent: wasSent(reason, record), status: statusOf(reason, record) })) return attemptFailure;
  if (kind === 'purchase') return lostPurchase(attemptFailure, target, call.redacted);
  return { ...attemptFailure, failure: { ...attemptFailure.failure, retryable: false } };
}

/** A proxy that asks for a password has forwarded nothing. */
function wasSent(reason: FailureReason, { connectMs }: Progress): boolean {
  const isUnsent = reason.kind === 'transport' && (reason.error.fault === 'proxy' || reason.error.isUnsent);
  return connectMs !== null && !isUnsent;
}

/** An error in an answer with status 200 has the status that it should have had. */
function statusOf(reason: FailureReason, { status }: Progress): number | null {
  return reason.kind === 'answer' ? reason.answer.status : status;
}

/** The upstream may have made and billed what was asked for; the client, which cannot see it, must not simply ask again. */
function lostPurchase<Part extends Pick<AttemptFailure, 'failure' | 'failureResponse'>>(
  lost: Part,
  target: Target,
  redacted: (text: string) => string = (text) => text,
): Part {
  const error = errorOfLostPurchase(target, problemOf(target, lost.failureResponse, redacted));
  return { ...lost, failure: { ...lost.failure, isLost: true }, failureResponse: { kind: 'error', error } };
}

interface CutRequest {
  once: NonRepeatable | null;
  trace: Pick<RequestTrace, 'attempts'>;
  plan: Pick<CallPlan, 'targets'>;
}

/** What a client that has nothing of its answer is told if Sluice itself ends the response for this reason. */
export function cutBySluice(reason: GatewayError, { once, trace, plan }: CutRequest): GatewayError {
  const sent = trace.attempts.findLast(({ record }) => mayHaveMade(record))?.record;
  const target = plan.targets.find(({ provider }) => provider.id === sent?.provider);
  if (once !== 'purchase' || !sent || !target) return reason;
  sent.failure = 'lost';
  return errorOfLostPurchase(target, 'Sluice was stopped before the answer came.');
}

/** An attempt that failed by itself has made something only if that is recorded (`lost`). */
function mayHaveMade({ failure, connectMs, status }: AttemptRecord): boolean {
  if (failure !== null && failure !== 'lost') return false;
  return mayHaveActed({ wasSent: connectMs !== null, status });
}

function failureBy(reason: FailureReason, call: FailedCall): AttemptFailure {
  const { target } = call;
  switch (reason.kind) {
    case 'answer':
      return refusal(reason, call);
    case 'damage':
      return damage(reason.failure ?? damagedFailure, target, reason.problem);
    case 'transport':
      return transportFailure(target, reason.error);
    case 'divergence':
      return divergence(target, call.mayContinue);
  }
}

function refusal(
  { failure, answer, event }: Extract<FailureReason, { kind: 'answer' }>,
  { target, hasBegun, redacted }: FailedCall,
): AttemptFailure {
  const upstreamMessage = answer.error?.message;
  const message = upstreamMessage ? `status ${answer.status}: ${upstreamMessage}` : `status ${answer.status}`;
  // Without an error in the API's format, it may be from a proxy that only this machine uses.
  const isAnswer = answer.error !== null && !answer.error.isText;
  const reportedFailure = { ...(hasBegun ? afterContent(failure) : failure), isAnswer };
  if (answer.isPage && looksLikeAccount(answer.status)) {
    return damage(reportedFailure, target, `answered with status ${answer.status} and a page of text`);
  }
  const account = hasBegun ? null : errorOfAccount(target, failure.class, answer.status);
  if (account) return { failure: reportedFailure, message, failureResponse: { kind: 'error', error: account } };
  const code = namedCode(answer.error);
  const errorCode = code === null ? null : redacted(code);
  const failedAnswer = { ...answer, provider: target.provider.id, errorCode, ...(event && { event }) };
  return { failure: reportedFailure, message, failureResponse: { kind: 'answer', answer: failedAnswer } };
}

/** A client would take it for an error about its own key. */
function looksLikeAccount(status: number): boolean {
  return status === 401 || status === 402 || status === 403;
}

const maxCodeLength = 100;
const isStatus = boundedPattern(/^\d+$/);

/** The upstream's error code; null if it is empty or merely repeats the status. */
function namedCode(error: UpstreamError | null): string | null {
  const code = error?.code ?? '';
  return code === '' || code.length > maxCodeLength || isStatus.test(code) ? null : code;
}

/** `problem` completes the sentence "Provider … ". */
function damage(failure: Failure, target: Target, problem: string): AttemptFailure {
  const error = damageOf(target, problem);
  return { failure, message: error.message, failureResponse: { kind: 'error', error } };
}

function transportFailure(target: Target, error: TransportError): AttemptFailure {
  return {
    failure: classifyTransport(error),
    message: error.message,
    failureResponse: { kind: 'error', error: errorOfTransport(target, error) },
  };
}

/** The client has received the beginning; `error` is reported if no other attempt delivers the rest. */
export function breakAfterContent(error: GatewayError): AttemptFailure {
  const retryable = error.code !== 'upstream_timeout';
  return { failure: brokenFailure(retryable), message: error.message, failureResponse: { kind: 'error', error } };
}

/** Classifies an error that the client received as the last event of its stream. */
export function failureInStream(errorCode: string | null): FailureClass {
  return errorCode !== null && isRequestError(errorCode) ? 'rejected' : 'stream-broken';
}

/** `continues`: the target can be asked to continue from the text that the client already has. */
function divergence(target: Target, continues: boolean): AttemptFailure {
  return damage(
    { ...differingFailure, continues },
    target,
    'answered otherwise than the client had been answered so far',
  );
}

/** The failure of a target that would have to continue a broken answer, of which only one of the two is translated. */
export function otherApi({ provider }: Target): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    `Provider "${provider.id}" speaks another API, in which it cannot continue an answer that has begun.`,
  );
}

/** The target cannot be asked; others may take the request. */
export function untranslatable(error: GatewayError, record: AttemptRecord): FailedAttempt {
  record.failure = 'rejected';
  record.error = error.message;
  const failure = { class: 'rejected', retryable: false, retryAfterMs: null, isOnlyHere: true } as const;
  return { kind: 'failed', failure, failureResponse: { kind: 'error', error } };
}

/** No token or signature could be obtained for the credential; another credential or target may work. */
export function refusedCredential(error: GatewayError, record: AttemptRecord): FailedAttempt {
  record.failure = 'credential';
  record.error = error.message;
  const failure = { class: 'credential', retryable: false, retryAfterMs: null } as const;
  return { kind: 'failed', failure, failureResponse: { kind: 'error', error } };
}

/** The token endpoint could not be reached, which says nothing about the credential. */
export function unsignable(target: Target, reason: TransportError, record: AttemptRecord): FailedAttempt {
  const { failure, message, failureResponse } = transportFailure(target, reason);
  record.failure = failure.class;
  record.error = message;
  return { kind: 'failed', failure, failureResponse };
}

/** A redirect that is not followed. `location` contains no secrets. */
export function refusedRedirect(
  target: Target,
  location: string,
  { record, isPurchase }: { record: AttemptRecord; isPurchase: boolean },
): FailedAttempt {
  const error = errorOfRedirect(target, location);
  const refused: FailedAttempt = {
    kind: 'failed',
    failure: redirectFailure,
    failureResponse: { kind: 'error', error },
  };
  const isLost = isPurchase && mayHaveActed({ wasSent: true, status: record.status });
  record.failure = isLost ? 'lost' : redirectFailure.class;
  record.error = error.message;
  return isLost ? lostPurchase(refused, target) : refused;
}

/** The state of the client's response when all attempts have failed. */
interface FailedExchange {
  client: ClientResponse;
  /** Stream format of the client's API; null if its route does not stream. */
  stream: StreamFormat | null;
  /** The client has received the beginning of an answer. */
  isBroken: boolean;
  /** Text received by the client; null if no other target could have continued the answer. */
  text: StreamText | null;
  attempts: number;
}

/**
 * Reports the failure to the client. If a stream has begun, even with comments only, the error is sent as an event.
 * Throws the GatewayError if nothing was sent and Sluice has to state the reason.
 */
export function reportFailure(
  failureResponse: FailureResponse,
  { client, stream, isBroken, text, attempts }: FailedExchange,
): void {
  const upstreamEvent = isBroken && failureResponse.kind === 'answer' ? failureResponse.answer.event : undefined;
  if (upstreamEvent) client.end('error', errorCodeOf(failureResponse), upstreamEvent);
  else if (isBroken && failureResponse.kind === 'error') {
    client.abort(failureResponse.error, text?.errorEvent(failureResponse.error.toBody().error) ?? null);
  } else if (client.hasBegun && stream) {
    const error = errorBodyOf(failureResponse);
    const event = (isBroken ? text?.errorEvent(error) : undefined) ?? stream.watch(1).errorEvent(error);
    client.end('error', errorCodeOf(failureResponse), Buffer.from(event));
  } else if (failureResponse.kind === 'answer') client.relay(failureResponse.answer, attempts);
  else {
    client.showAttempts(attempts);
    throw failureResponse.error;
  }
}

/**
 * Anything but a GatewayError and a shortage of this machine is an internal error, whose message goes to the log only.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (isResourceExhaustion(thrown)) return machineOverloaded(messageOf(thrown), thrown);
  return new GatewayError(
    'internal',
    'Sluice failed to handle this request. Its log says why; nothing was charged by Sluice.',
    { cause: thrown },
  );
}
