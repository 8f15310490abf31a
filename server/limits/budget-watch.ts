import type { Budget } from '../contract/config.ts';
import type { Limited, LimitReached, LimitScope } from '../contract/limits.ts';
import type { Amounts } from '../ledger/usage-history.ts';
import type { Account } from './account.ts';

interface Reported {
  /** The start of the period. */
  startMs: number;
  percent: 0 | LimitReached['percent'];
}

/** What ended requests have used since `startMs`, before it was known what was spent until then. */
interface Early {
  startMs: number;
  used: number;
}

/** Reports when a budget reaches 80 and 100 percent, once in each period, but not a level reached before the start. */
export class BudgetWatch {
  readonly #reached: (notice: LimitReached) => void;
  readonly #reported = new Map<string, Reported>();
  readonly #early = new Map<string, Early>();

  constructor(reached: (notice: LimitReached) => void) {
    this.#reached = reached;
  }

  /** Must be called before a request is counted. */
  begin(limited: Limited, account: Account): void {
    for (const budget of limited.limits.budgets) this.#look(limited, account, budget);
  }

  /** Must be called after a request is counted, which has used this. */
  report(limited: Limited, account: Account, added: Amounts): void {
    for (const budget of limited.limits.budgets) {
      if (!this.#tell(limited, account, { budget, added: added[budget.unit] }))
        void account.loading(budget.per)?.then(() => this.#tell(limited, account, { budget, added: 0 }));
    }
  }

  /** Called when a key is removed, since its id may be reused. */
  forget(scope: LimitScope, id: string): void {
    for (const names of [this.#reported, this.#early]) {
      for (const name of names.keys()) if (name.startsWith(`${scope} ${id} `)) names.delete(name);
    }
  }

  /** False if it is not known yet what was spent. */
  #tell(limited: Limited, account: Account, { budget, added }: { budget: Budget; added: number }): boolean {
    const { reported, percent, used, resetsAt } = this.#look(limited, account, budget, added);
    if (reported === null) return false;
    if (percent === 0 || percent <= reported.percent) return true;
    reported.percent = percent;
    const { scope, id, name } = limited;
    this.#reached({ scope, id, name, budget, percent, used, resetsAt });
    return true;
  }

  /** `added`: by a request that has ended, which is in the amount spent. */
  #look({ scope, id }: Limited, account: Account, budget: Budget, added = 0) {
    const { period, spent, isKnown } = account.spent(budget.per);
    const used = spent[budget.unit];
    const name = `${scope} ${id} ${budget.per} ${budget.unit} ${budget.amount}`;
    const { startMs } = period;
    let reported = this.#reported.get(name) ?? null;
    if (reported?.startMs !== startMs) {
      const early = this.#early.get(name);
      const since = added + (early?.startMs === startMs ? early.used : 0);
      // What was reached before is told by the first complete amount, without what was added since.
      reported = isKnown ? { startMs, percent: percentOf((used - since) / budget.amount) } : null;
      if (reported) {
        this.#reported.set(name, reported);
        this.#early.delete(name);
      } else this.#early.set(name, { startMs, used: since });
    }
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    return { reported, percent: percentOf(used / budget.amount), used, resetsAt };
  }
}

/** The level that a share of a budget has reached. */
export function percentOf(share: number): Reported['percent'] {
  if (share >= 1) return 100;
  return share >= 0.8 ? 80 : 0;
}
