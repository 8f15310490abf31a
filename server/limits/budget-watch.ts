import type { Budget } from '../contract/config.ts';
import type { Limited, LimitReached } from '../contract/limits.ts';
import type { Account } from './account.ts';

interface Told {
  /** Of the period it was told in. */
  startMs: number;
  percent: 0 | LimitReached['percent'];
}

/** Tells when a budget comes to 80 and to 100 percent, once in each of its periods. What was so at a start is no news. */
export class BudgetWatch {
  readonly #reached: (notice: LimitReached) => void;
  readonly #told = new Map<string, Told>();

  constructor(reached: (notice: LimitReached) => void) {
    this.#reached = reached;
  }

  /** To be called before a request is counted. */
  begin(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) this.#look(limited, account, budget);
  }

  /** To be called after it was. */
  tell(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) {
      const { told, percent, used, resetsAt } = this.#look(limited, account, budget);
      if (percent === 0 || percent <= told.percent) continue;
      told.percent = percent;
      const { scope, id, name } = limited;
      this.#reached({ scope, id, name, budget, percent, used, resetsAt });
    }
  }

  #look({ scope, id }: Limited, account: Account, budget: Budget) {
    const { period, spent } = account.spent(budget.per);
    const used = budget.unit === 'usd' ? spent.usd : spent.tokens;
    const percent = percentOf(used / budget.amount);
    const name = `${scope} ${id} ${budget.per} ${budget.unit} ${budget.amount}`;
    let told = this.#told.get(name);
    if (told?.startMs !== period.startMs) {
      told = { startMs: period.startMs, percent };
      this.#told.set(name, told);
    }
    return { told, percent, used, resetsAt: Number.isFinite(period.endMs) ? period.endMs : null };
  }
}

function percentOf(share: number): Told['percent'] {
  if (share >= 1) return 100;
  return share >= 0.8 ? 80 : 0;
}
