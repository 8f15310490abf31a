import type { FailureClass } from '../../contract/ledger.ts';
import type { ConnectionFault } from '../../contract/provider-views.ts';

/** Another attempt is of no use: nobody waits for it, or this machine cannot make it. */
export function endsAllAttempts({ class: failure }: Failure): boolean {
  return failure === 'client-gone' || failure === 'shortage';
}

/** What kind of failure an upstream's response, or its silence, is. */
export interface Failure {
  class: FailureClass;
  /** Whether the same target with the same credential may soon succeed. */
  retryable: boolean;
  /** The delay that the upstream asked for; null if it did not. */
  retryAfterMs: number | null;
  /** Why there was no answer, or none of use. */
  fault?: ConnectionFault;
  /** The upstream itself reported it, as an error of its API. */
  isAnswer?: boolean;
  /** For `too-large`: the model's context size, if the upstream states it. */
  contextTokens?: number;
  /** The request may succeed without the conversation's reasoning, which another account produced or the client changed. */
  refusesReasoning?: boolean;
  /** A member of the request that the upstream refuses, although the answer would have the same meaning without it. */
  refusesMember?: string;
  /** The upstream had closed a connection kept from earlier calls, which says nothing about its health. */
  isStale?: boolean;
  /** For a rescue: the target's text differed, but it can be asked to continue the client's text. */
  continues?: boolean;
  /** The model's answer is nothing but a call that its provider could not read: another answer may be well. */
  isMalformedCall?: boolean;
  /** The answer had content, was paid for, and cannot be used: no other one is bought, as none is once a stream has begun. */
  isSpent?: boolean;
  /** For `credential`: it lacks the right for this kind of request, and may be used for others. */
  lacksOneRight?: boolean;
  /** For `credential`: it was not the credential but the time of the signature, which has been corrected. */
  isClockCorrected?: boolean;
  /** For `model-unavailable`: the credential may not use the model; another one of the provider may. */
  isDenied?: boolean;
  /** For a purchase (`isPurchase`): the upstream may have made and billed what was asked for, and its answer is lost. */
  isLost?: boolean;
  /** For `rejected`: only this target cannot serve the request, such as for lack of the route. Another target may accept it. */
  isOnlyHere?: boolean;
}
