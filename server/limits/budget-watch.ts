import type { Budget } from '../contract/limit-settings.ts';
import { type Limited, type LimitReached, noticePercents } from '../contract/limits.ts';
import type { Amounts } from '../store/sqlite/usage-history.ts';
import type { Account } from './account.ts';

/** A budget of an account in one period. */
interface Watched {
  budget: Budget;
  /** The start of the period. */
  startMs: number;
  /** The level reported last; null until it is known what was spent before. */
  percent: number | null;
  /** The usage of requests that ended before that was known. */
  early: number;
}

/**
 * Reports when a budget of an account reaches the percentages that it names, once in each period, but not one reached
 * before the start.
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

  /** Reports the budgets that a counted request has brought to an amount, by what it has added. */
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
      if (isKnown) watched.percent = percentOf(budget, used - watched.early);
    }
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    return { watched, percent: percentOf(budget, used), used, resetsAt };
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
  return budgets
    .filter((budget, index) => budgets.findIndex((each) => isSame(each, budget)) === index)
    .map((budget) => {
      const all = budgets.filter((each) => isSame(each, budget));
      return all.length === 1 ? budget : { ...budget, notifyAt: all.flatMap(noticePercents) };
    });
}

function isSame(one: Budget, other: Budget): boolean {
  return one.per === other.per && one.unit === other.unit && one.amount === other.amount;
}

const roundingShare = 1e-9;

/** The highest percentage to be reported that the amount used has reached; 0 if none. */
export function percentOf(budget: Budget, used: number): number {
  // An amount that was added and taken off again may miss a level by its last digits.
  const share = used / budget.amount + roundingShare;
  return noticePercents(budget).findLast((percent) => share >= percent / 100) ?? 0;
}
