/** Limits as typed: an amount that has not been entered is 0 and means no limit. */
import type { Budget, Limits } from '../../../server/contract/limit-settings.ts';

export type RateName = 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent';

export const rateNames: readonly RateName[] = ['requestsPerMinute', 'tokensPerMinute', 'concurrent'];
export const budgetUnits: readonly Budget['unit'][] = ['usd', 'tokens'];
export const budgetPeriods: readonly Budget['per'][] = ['day', 'week', 'month', 'total'];

export const newBudget: Budget = { unit: 'usd', amount: 0, per: 'month', hard: true };

/** In the form in which they are sent; undefined if nothing is limited. */
export function limitsOf(draft: Limits | undefined): Limits | undefined {
  if (!draft) return undefined;
  const rates = rateNames.flatMap((name) => (draft[name] ? [[name, draft[name]]] : []));
  const budgets = draft.budgets.filter(({ amount }) => amount > 0);
  return rates.length + budgets.length > 0 ? { ...Object.fromEntries(rates), budgets } : undefined;
}
