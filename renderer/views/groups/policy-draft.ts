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
export const usualPolicy = {
  strategy: 'priority',
  retries: 2,
  fallbacks: 3,
  budgetMs: 120_000,
  rescue: 'resume',
  hedgeAfterMs: 0,
  onClientGone: 'stop',
  losses: 'tell',
} satisfies Omit<Policy, 'timeouts'>;

/** Those that few groups need, and that the form shows only when asked. */
const furtherFields = ['budgetMs', 'hedgeAfterMs', 'onClientGone', 'losses'] as const;

/** How many settings are not the usual ones, and how many of these the form hides at first; each timeout counts. */
export function changesOf(policy: Policy): { total: number; further: number } {
  const isChanged = (field: keyof typeof usualPolicy) => policy[field] !== usualPolicy[field];
  const timeouts = phases.filter((phase) => policy.timeouts[phase] !== undefined).length;
  const further = furtherFields.filter(isChanged).length + timeouts;
  const shown = (['strategy', 'retries', 'fallbacks', 'rescue'] as const).filter(isChanged).length;
  return { total: shown + further, further };
}
