import type { Limited, LimitReached } from '../../contract/limits.ts';
import { announcedBudgets, percentOf } from '../../limits/budget-watch.ts';
import type { Counted } from '../../limits/meters.ts';
import type { Spent } from '../../store/sqlite/usage-history.ts';

/**
 * Reports the budgets that have reached a percentage that they name with the amount just added, which only one of all replicas
 * adds.
 */
export function reportReached(
  { scope, id, name, limits }: Limited,
  counted: Pick<Counted, 'spent'>,
  added: Spent,
  onReached: (notice: LimitReached) => void,
): void {
  for (const budget of announcedBudgets(limits)) {
    const { period, spent } = counted.spent(budget.per);
    const used = spent[budget.unit];
    const percent = percentOf(budget, used);
    if (percent === 0 || percent <= percentOf(budget, used - added[budget.unit])) continue;
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    onReached({ scope, id, name, budget, percent, used, resetsAt });
  }
}
