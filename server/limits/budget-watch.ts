import type { Budget } from '../contract/config.ts';
import type { Limited, LimitReached } from '../contract/limits.ts';
import type { Amounts } from '../ledger/usage-history.ts';
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

/** Reports when a budget reaches 80 and 100 percent, once in each period, but not a level reached before the start. */
export class BudgetWatch {
  readonly #reached: (notice: LimitReached) => void;
  readonly #watched = new WeakMap<Account, Watched[]>();

  constructor(reached: (notice: LimitReached) => void) {
    this.#reached = reached;
  }

  /** Must be called before a request is counted. */
  begin(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) this.#look(account, budget);
  }

  /** Must be called after a request is counted, with its usage. */
  report(limited: Limited, account: Account, added: Amounts): void {
    for (const budget of limited.limits.budgets) {
      if (!this.#report(limited, account, { budget, added: added[budget.unit] }))
        void account.loading(budget.per)?.then(() => this.#report(limited, account, { budget, added: 0 }));
    }
  }

  /** False if the amount spent is not known yet. */
  #report(limited: Limited, account: Account, { budget, added }: { budget: Budget; added: number }): boolean {
    const { watched, percent, used, resetsAt } = this.#look(account, budget, added);
    if (watched.percent === null) return false;
    if (percent === 0 || percent <= watched.percent) return true;
    watched.percent = percent;
    const { scope, id, name } = limited;
    this.#reached({ scope, id, name, budget, percent, used, resetsAt });
    return true;
  }

  /** `added`: the usage of a request that has ended, which the amount spent includes. */
  #look(account: Account, budget: Budget, added = 0) {
    const { period, spent, isKnown } = account.spent(budget.per);
    const used = spent[budget.unit];
    const watched = this.#watchedOf(account, budget, period.startMs);
    if (watched.percent === null) {
      watched.early += added;
      // A level reached before the start is not reported.
      if (isKnown) watched.percent = percentOf((used - watched.early) / budget.amount);
    }
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    return { watched, percent: percentOf(used / budget.amount), used, resetsAt };
  }

  #watchedOf(account: Account, budget: Budget, startMs: number): Watched {
    const all = this.#watched.get(account) ?? [];
    const before = all.find((each) => isSame(each.budget, budget));
    if (before?.startMs === startMs) return before;
    const watched: Watched = { budget, startMs, percent: null, early: 0 };
    this.#watched.set(account, [...all.filter((each) => each !== before), watched]);
    return watched;
  }
}

function isSame(one: Budget, other: Budget): boolean {
  return one.per === other.per && one.unit === other.unit && one.amount === other.amount;
}

/** The level that a share of a budget has reached. */
export function percentOf(share: number): 0 | LimitReached['percent'] {
  if (share >= 1) return 100;
  return share >= 0.8 ? 80 : 0;
}
