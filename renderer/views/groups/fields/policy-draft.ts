import type { Policy } from '../../../../server/contract/policy.ts';

/** The default first, then from the simplest to the most complex. */
export const strategyOrder: readonly Policy['strategy'][] = [
  'priority',
  'weighted',
  'round-robin',
  'lowest-latency',
  'lowest-price',
  'sticky',
];

export const phases = ['connectMs', 'firstByteMs', 'firstContentMs', 'idleMs', 'totalMs'] as const;

/** The value of an empty field; the same as in `policySchema`, which is not part of the window's bundle. */
export const usualPolicy = {
  strategy: 'priority',
  retries: 2,
  fallbacks: 3,
  budgetMs: 120_000,
  rescue: 'resume',
  hedgeAfterMs: 0,
  retryLostJobs: false,
  onClientGone: 'stop',
  losses: 'tell',
} satisfies Omit<Policy, 'timeouts'>;

/** Rarely needed fields, which the form shows only on request. */
const furtherFields = ['budgetMs', 'hedgeAfterMs', 'retryLostJobs', 'onClientGone', 'losses'] as const;

/** How many settings differ from the defaults, and how many of these the form hides at first. Each timeout counts. */
export function changesOf(policy: Policy): { total: number; further: number } {
  const isChanged = (field: keyof typeof usualPolicy) => policy[field] !== usualPolicy[field];
  const timeouts = phases.filter((phase) => policy.timeouts[phase] !== undefined).length;
  const further = furtherFields.filter(isChanged).length + timeouts;
  const shown = (['strategy', 'retries', 'fallbacks', 'rescue'] as const).filter(isChanged).length;
  return { total: shown + further, further };
}
