import type { FailureClass } from '../../contract/ledger.ts';

/** Whose fault it is: of a model at a provider, of a credential everywhere, or of a credential with that model. */
export type Subject = 'target' | 'credential' | 'credential-at-target';

export interface CooldownRule {
  subject: Subject;
  /** So many failures in a row begin a cooldown. */
  afterInARow: number;
  /** The first cooldown; each that follows closely is twice as long as the one before. Infinite: until a person mends it. */
  firstMs: number;
  longestMs: number;
  /** The longest wait that is believed where an upstream tells one; null: what it tells is not heeded. */
  longestToldMs: number | null;
}

/** Whatever can mend itself is asked again so often that a target which has recovered is used again within 30 s. */
export const longestGuessMs = 20_000;

const hourMs = 3_600_000;

const brokenTarget: CooldownRule = {
  subject: 'target',
  afterInARow: 3,
  firstMs: 1_000,
  longestMs: longestGuessMs,
  longestToldMs: longestGuessMs,
};

/** Classes that are absent say nothing about an upstream's health: the request itself was at fault, or its client left. */
export const cooldownRules: Partial<Record<FailureClass, CooldownRule>> = {
  transient: brokenTarget,
  'stream-broken': brokenTarget,
  // Each one costs a client the whole limit on time.
  silent: { ...brokenTarget, afterInARow: 2 },
  'model-unavailable': { ...brokenTarget, afterInARow: 1, firstMs: 5_000 },
  'rate-limit': {
    subject: 'credential-at-target',
    afterInARow: 1,
    firstMs: 1_000,
    longestMs: longestGuessMs,
    longestToldMs: hourMs,
  },
  quota: { subject: 'credential', afterInARow: 1, firstMs: hourMs / 6, longestMs: hourMs, longestToldMs: null },
  credential: {
    subject: 'credential',
    afterInARow: 1,
    firstMs: Number.POSITIVE_INFINITY,
    longestMs: Number.POSITIVE_INFINITY,
    longestToldMs: null,
  },
};
