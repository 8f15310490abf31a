import type { Policy } from '../../../server/contract/policy.ts';

/** The usual one first, then from the simplest to the cleverest. */
export const strategyOrder: readonly Policy['strategy'][] = [
  'priority',
  'weighted',
  'round-robin',
  'lowest-latency',
  'lowest-price',
  'sticky',
];

export const phases = ['connectMs', 'firstByteMs', 'firstContentMs', 'idleMs', 'totalMs'] as const;

/** What an emptied field means; as `policySchema` says, which is not in the window's bundle. */
export const usualPolicy: Pick<Policy, 'retries' | 'fallbacks' | 'budgetMs'> = {
  retries: 2,
  fallbacks: 3,
  budgetMs: 120_000,
};
