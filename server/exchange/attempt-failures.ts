/** What an attempt that failed comes to: for the loop, for its record and for the client. Pure. */
import { pattern } from '../bounded-pattern.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { LastWord } from '../routing/attempt-result.ts';
import {
  afterContent,
  brokenFailure,
  classifyTransport,
  damagedFailure,
  differingFailure,
} from '../routing/classify-failure.ts';
import { damageOf, errorOfAccount, errorOfTransport } from '../routing/last-word.ts';
import type { Target } from '../routing/snapshot.ts';
import type { TransportError } from '../transport/transport-error.ts';
import type { Failure } from '../wire/failure.ts';
import type { UpstreamError } from '../wire/upstream-error.ts';
import type { ErrorFormat } from '../wire/wire.ts';
import type { FailureReason } from './readers/response-reader.ts';

export interface AttemptFailure {
  failure: Failure;
  /** For the record. */
  message: string;
  lastWord: LastWord;
}

interface FailedCall {
  target: Target;
  /** Some of the response is with the client. */
  hasBegun: boolean;
  /** The target can be asked to go on from what the client has. */
  mayContinue: boolean;
  /** For what an upstream says, which may repeat what it was sent. */
  redacted(text: string): string;
}

export function failureOf(reason: FailureReason, call: FailedCall): AttemptFailure {
  const { target } = call;
  switch (reason.kind) {
    case 'answer':
      return refusal(reason, call);
    case 'damage':
      return damage(reason.failure ?? damagedFailure, target, reason.what);
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
  const said = answer.error?.message;
  const message = said ? `status ${answer.status}: ${said}` : `status ${answer.status}`;
  const account = hasBegun ? null : errorOfAccount(target, failure.class, answer.status);
  if (account) return { failure, message, lastWord: { kind: 'error', error: account } };
  const code = namedCode(answer.error);
  const errorCode = code === null ? null : redacted(code);
  const held = { ...answer, provider: target.provider.id, errorCode, ...(event && { event }) };
  return {
    failure: hasBegun ? afterContent(failure) : failure,
    message,
    lastWord: { kind: 'answer', answer: held },
  };
}

const maxCodeLength = 100;
const isStatus = pattern(/^\d+$/);

/** What an upstream calls its error; null where that is nothing, or merely the status once more. */
function namedCode(error: UpstreamError | null): string | null {
  const code = error?.code ?? '';
  return code === '' || code.length > maxCodeLength || isStatus.test(code) ? null : code;
}

/** `what` follows "Provider … ", for a person. */
function damage(failure: Failure, target: Target, what: string): AttemptFailure {
  const error = damageOf(target, what);
  return { failure, message: error.message, lastWord: { kind: 'error', error } };
}

function transportFailure(target: Target, error: TransportError): AttemptFailure {
  return {
    failure: classifyTransport(error),
    message: error.message,
    lastWord: { kind: 'error', error: errorOfTransport(target, error) },
  };
}

/** The client has its beginning, and `error` is what it is told if nobody brings the rest. */
export function breakAfterContent(error: GatewayError): AttemptFailure {
  const retryable = error.code !== 'upstream_timeout';
  return { failure: brokenFailure(retryable), message: error.message, lastWord: { kind: 'error', error } };
}

/** Of an error that the client has as the last word of its stream. */
export function failureInStream(errorCode: string | null, errors: ErrorFormat): FailureClass {
  return errorCode !== null && errors.isRequestsOwn(errorCode) ? 'rejected' : 'stream-broken';
}

/** `continues`: it can be asked to go on from what the client has. */
function divergence(target: Target, continues: boolean): AttemptFailure {
  return damage(
    { ...differingFailure, continues },
    target,
    'answered otherwise than the client had been answered so far',
  );
}
