import type { Budget } from '../contract/config.ts';
import type { Limited, LimitReached } from '../contract/limits.ts';
import type { Amounts } from '../store/sqlite/usage-history.ts';
import type { Account } from './account.ts';

/** A budget of an account in one period. */
interface Watched {
  budget: Budget;
  /** The start of the period. */
  startMs: number;
  /** The level reported last; null until it is known what was spent before. */
  percent: 0 | LimitReached['percent'] | null;
  /** The usage of requests that ended before that was known. */
  early: number;
}

/**
 * Reports when a budget of an account reaches 80 and 100 percent, once in each period, but not a level reached before the
 * start.
 */
export class BudgetWatch {
  readonly #account: Account;
  readonly #onReached: (notice: LimitReached) => void;
  readonly #watched: Watched[] = [];

  constructor(account: Account, onReached: (notice: LimitReached) => void) {
    this.#account = account;
    this.#onReached = onReached;
  }

  /** Must be called before a request is counted. */
  begin({ limits }: Limited): void {
    for (const budget of announcedBudgets(limits)) this.#measure(budget);
  }

  /** Must be called after a request is counted, with its usage. */
  report(limited: Limited, added: Amounts): void {
    for (const budget of announcedBudgets(limited.limits)) {
      if (!this.#report(limited, budget, added[budget.unit]))
        void this.#account.loading(budget.per)?.then(() => this.#report(limited, budget, 0));
    }
  }

  /** False if the amount spent is not known yet. */
  #report(limited: Limited, budget: Budget, added: number): boolean {
    const { watched, percent, used, resetsAt } = this.#measure(budget, added);
    if (watched.percent === null) return false;
    if (percent === 0 || percent <= watched.percent) return true;
    watched.percent = percent;
    const { scope, id, name } = limited;
    this.#onReached({ scope, id, name, budget, percent, used, resetsAt });
    return true;
  }

  /** `added`: the usage of a request that has ended, which the amount spent includes. */
  #measure(budget: Budget, added = 0) {
    const { period, spent, isKnown } = this.#account.spent(budget.per);
    const used = spent[budget.unit];
    const watched = this.#watchedOf(budget, period.startMs);
    if (watched.percent === null) {
      watched.early += added;
      // A level reached before the start is not reported.
      if (isKnown) watched.percent = percentOf((used - watched.early) / budget.amount);
    }
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    return { watched, percent: percentOf(used / budget.amount), used, resetsAt };
  }

  #watchedOf(budget: Budget, startMs: number): Watched {
    const index = this.#watched.findIndex((each) => isSame(each.budget, budget));
    const previous = this.#watched[index];
    if (previous?.startMs === startMs) return previous;
    const watched: Watched = { budget, startMs, percent: null, early: 0 };
    this.#watched.splice(previous ? index : this.#watched.length, 1, watched);
    return watched;
  }
}

/** The budgets of which notices are sent: of those that differ only in what happens then, one. */
export function announcedBudgets({ budgets }: Limited['limits']): Budget[] {
  return budgets.filter((budget, index) => budgets.findIndex((each) => isSame(each, budget)) === index);
}

function isSame(one: Budget, other: Budget): boolean {
  return one.per === other.per && one.unit === other.unit && one.amount === other.amount;
}

const roundingShare = 1e-9;

/** The level that a share of a budget has reached. */
export function percentOf(share: number): 0 | LimitReached['percent'] {
  // An amount that was added and taken off again may miss a level by its last digits.
  if (share >= 1 - roundingShare) return 100;
  return share >= 0.8 - roundingShare ? 80 : 0;
}
