import type { Limited, LimitReached } from '../../contract/limits.ts';
import { announcedBudgets, percentOf } from '../../limits/budget-watch.ts';
import type { Counted } from '../../limits/meters.ts';
import type { Spent } from '../../store/sqlite/usage-history.ts';

/**
 * Reports the budgets that have reached 80 or 100 percent with the amount just added, which only one of all replicas
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
    const percent = percentOf(used / budget.amount);
    if (percent === 0 || percent <= percentOf((used - added[budget.unit]) / budget.amount)) continue;
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    onReached({ scope, id, name, budget, percent, used, resetsAt });
  }
}
