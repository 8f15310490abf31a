import type { Budget } from '../contract/config.ts';
import type { Limited, LimitReached } from '../contract/limits.ts';
import type { Account } from './account.ts';

interface Reported {
  budget: Budget;
  /** The start of the period. */
  startMs: number;
  percent: 0 | LimitReached['percent'];
}

/** Reports when a budget reaches 80 and 100 percent, once in each period, but not a level reached before the start. */
export class BudgetWatch {
  readonly #reached: (notice: LimitReached) => void;
  readonly #reported = new WeakMap<Account, Reported[]>();

  constructor(reached: (notice: LimitReached) => void) {
    this.#reached = reached;
  }

  /** Must be called before a request is counted. */
  begin(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) this.#look(account, budget);
  }

  /** Must be called after a request is counted. */
  report(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) {
      const { reported, percent, used, resetsAt } = this.#look(account, budget);
      if (percent === 0 || percent <= reported.percent) continue;
      reported.percent = percent;
      const { scope, id, name } = limited;
      this.#reached({ scope, id, name, budget, percent, used, resetsAt });
    }
  }

  #look(account: Account, budget: Budget) {
    const { period, spent, isKnown } = account.spent(budget.per);
    const used = budget.unit === 'usd' ? spent.usd : spent.tokens;
    const percent = percentOf(used / budget.amount);
    const ofAccount = this.#reported.get(account) ?? [];
    let reported = ofAccount.find((each) => isSame(each.budget, budget));
    if (reported?.startMs !== period.startMs) {
      const others = ofAccount.filter((each) => each !== reported);
      reported = { budget, startMs: period.startMs, percent };
      // What was reached before is told by the first complete amount.
      if (isKnown) this.#reported.set(account, [...others, reported]);
    }
    return { reported, percent, used, resetsAt: Number.isFinite(period.endMs) ? period.endMs : null };
  }
}

function isSame(one: Budget, other: Budget): boolean {
  return one.per === other.per && one.unit === other.unit && one.amount === other.amount;
}

/** The level that a share of a budget has reached. */
export function percentOf(share: number): Reported['percent'] {
  if (share >= 1) return 100;
  return share >= 0.8 ? 80 : 0;
}
