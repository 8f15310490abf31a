/** What an attempt that failed comes to: for the loop, for its record and for the client. Pure. */
import type { GatewayError } from '../contract/errors.ts';
import type { HeldAnswer, LastWord } from '../routing/attempt-result.ts';
import { brokenFailure, classifyTransport, differingFailure, type Failure } from '../routing/classify-failure.ts';
import { damageOf, errorOfTransport } from '../routing/last-word.ts';
import type { Target } from '../routing/snapshot.ts';
import type { TransportError } from '../transport/transport-error.ts';

export interface AttemptFailure {
  failure: Failure;
  /** For the record. */
  message: string;
  lastWord: LastWord;
}

export function refusal(failure: Failure, answer: HeldAnswer): AttemptFailure {
  const said = answer.error?.message;
  const message = said ? `status ${answer.status}: ${said}` : `status ${answer.status}`;
  return { failure, message, lastWord: { kind: 'answer', answer } };
}

/** `what` follows "Provider … ", for a person. */
export function damage(failure: Failure, target: Target, what: string): AttemptFailure {
  const error = damageOf(target, what);
  return { failure, message: error.message, lastWord: { kind: 'error', error } };
}

export function transportFailure(target: Target, error: TransportError): AttemptFailure {
  return {
    failure: classifyTransport(error),
    message: error.message,
    lastWord: { kind: 'error', error: errorOfTransport(target, error) },
  };
}

/** The client has its beginning, and `error` is what it is told if nobody brings the rest. */
export function breakAfterContent(error: GatewayError): AttemptFailure {
  const mayPass = error.code !== 'upstream_timeout';
  return { failure: brokenFailure(mayPass), message: error.message, lastWord: { kind: 'error', error } };
}

/** `continues`: it can be asked to go on from what the client has. */
export function divergence(target: Target, continues: boolean): AttemptFailure {
  return damage(
    { ...differingFailure, continues },
    target,
    'answered otherwise than the client had been answered so far',
  );
}
