import type { FailureClass } from '../../contract/ledger.ts';
import { hourMs, minuteMs } from '../../contract/units.ts';

/** What a cooldown applies to: a target, a credential, or a credential with one model. */
export type Subject = 'target' | 'credential' | 'credential-at-target';

export interface CooldownRule {
  subject: Subject;
  /** The number of consecutive failures that begin a cooldown. */
  consecutiveFailures: number;
  /** The first cooldown; each following one is twice as long. */
  firstMs: number;
  longestMs: number;
  /** The longest `Retry-After` that is respected; null: it is ignored. */
  longestRetryAfterMs: number | null;
}

/** Short enough that a recovered target is used again within 30 s. */
export const longestGuessMs = 20_000;

/** While another target answers, a refused credential is tried this rarely: as a rule a person has to replace it. */
export const refusedTrialMs = 5 * minuteMs;
/** While nothing else can answer, one request in this time tries a refused credential. */
export const refusedAloneMs = 30_000;

const brokenTarget: CooldownRule = {
  subject: 'target',
  consecutiveFailures: 3,
  firstMs: 1_000,
  longestMs: longestGuessMs,
  longestRetryAfterMs: longestGuessMs,
};

const missingModel: CooldownRule = { ...brokenTarget, consecutiveFailures: 1, firstMs: 5_000 };

/** Absent classes say nothing about health: the request was at fault, or its client disconnected. */
export const cooldownRules: Partial<Record<FailureClass, CooldownRule>> = {
  transient: brokenTarget,
  'stream-broken': brokenTarget,
  // Each silence costs a client the whole timeout.
  silent: { ...brokenTarget, consecutiveFailures: 2 },
  'model-unavailable': missingModel,
  'rate-limit': {
    subject: 'credential-at-target',
    consecutiveFailures: 1,
    firstMs: 1_000,
    longestMs: longestGuessMs,
    longestRetryAfterMs: hourMs,
  },
  quota: {
    subject: 'credential',
    consecutiveFailures: 1,
    firstMs: hourMs / 6,
    longestMs: hourMs,
    longestRetryAfterMs: null,
  },
  credential: {
    subject: 'credential',
    consecutiveFailures: 1,
    firstMs: refusedTrialMs,
    longestMs: refusedTrialMs,
    longestRetryAfterMs: null,
  },
};

const deniedModel: CooldownRule = { ...missingModel, subject: 'credential-at-target' };

/** Undefined if such a failure says nothing about health. `isDenied`: it is the credential that may not use the model. */
export function cooldownRuleFor(failure: FailureClass, isDenied: boolean): CooldownRule | undefined {
  return failure === 'model-unavailable' && isDenied ? deniedModel : cooldownRules[failure];
}
