/**
 * What was spent in the current period of one kind. The ledger is asked at the start of each period and whenever the clock
 * leads into another one; in between it is added up here, and the sum is kept beside the ledger with each change. After a
 * start the larger of the two counts, so that a budget opens neither where the ledger is gone nor where the sum is.
 *
 * Where a clock is set back into an earlier period, over a restart too, what was counted since stays counted beside what
 * the ledger has of that period: setting a clock back opens no budget. Once it is right again, the ledger's sums are too,
 * so none stays shut.
 */
import type { Budget } from '../contract/config.ts';
import type { BudgetSum } from '../ledger/budget-sums.ts';
import type { Spent } from '../ledger/usage-history.ts';
import { type Period, periodOf } from './period.ts';

export const nothing: Spent = { usd: 0, tokens: 0, unpriced: 0 };

interface SpendingPorts {
  /** What the ledger has. Throws if it cannot be read now. */
  load(period: Period): Spent;
  /** What was kept last; null: nothing. Throws if it cannot be read now. */
  recall(): BudgetSum | null;
  keep(sum: BudgetSum): void;
  failed(error: unknown): void;
}

/** How long to go on with what is known here where the ledger cannot be read. */
const retryMs = 5_000;

export class Spending {
  readonly #per: Budget['per'];
  readonly #ports: SpendingPorts;
  #period: Period;
  #spent = nothing;
  /** Ledger or kept sum have told: what is added up here is all there is. */
  #isKnown = false;
  #isRecalled = false;
  /** Unix milliseconds; null while both have told. */
  #askAgainAt: number | null = null;
  #hasTold = false;

  constructor(per: Budget['per'], ports: SpendingPorts, nowMs: number) {
    this.#per = per;
    this.#ports = ports;
    this.#period = periodOf(per, nowMs);
    this.#ask(nowMs);
  }

  /** The period that `nowMs` lies in, with what was spent in it; where that is not known, it may be more. */
  at(nowMs: number): { period: Period; spent: Spent; isKnown: boolean } {
    if (this.#askAgainAt !== null && Math.abs(nowMs - this.#askAgainAt) >= retryMs) this.#ask(nowMs);
    else this.#follow(nowMs);
    return { period: this.#period, spent: this.#spent, isKnown: this.#isKnown };
  }

  /** Counts for the period that a request began in, as in the ledger. */
  add(startedAt: number, used: Spent): void {
    if (startedAt < this.#period.startMs || startedAt >= this.#period.endMs) return;
    this.#spent = plus(this.#spent, used);
    this.#keep();
  }

  /** At a start, and again later where not both could be read. */
  #ask(nowMs: number): void {
    this.#askAgainAt = null;
    if (!this.#isRecalled) this.#recall(nowMs);
    const isSame = this.#period.startMs <= nowMs && nowMs < this.#period.endMs;
    if (isSame) this.#spent = largest(this.#spent, this.#load(nowMs));
    else this.#follow(nowMs);
    if (this.#askAgainAt === null) this.#hasTold = false;
    this.#keep();
  }

  #recall(nowMs: number): void {
    const kept = this.#tried(() => this.#ports.recall(), nowMs);
    if (kept === undefined) return;
    this.#isRecalled = true;
    if (kept === null) return;
    // It would have gone on with the first request of a later period.
    this.#isKnown = true;
    if (kept.endMs <= this.#period.startMs) return;
    const { startMs, endMs, spent } = kept;
    this.#spent = startMs === this.#period.startMs ? largest(this.#spent, spent) : spent;
    this.#period = { startMs, endMs };
  }

  /** Goes on to the period that `nowMs` lies in. */
  #follow(nowMs: number): void {
    const { startMs, endMs } = this.#period;
    if (nowMs < startMs) {
      const earlier = periodOf(this.#per, nowMs);
      this.#begin({ ...earlier, endMs: Math.min(earlier.endMs, startMs) }, this.#spent, nowMs);
    } else if (nowMs >= endMs) this.#begin(periodOf(this.#per, nowMs), nothing, nowMs);
  }

  #begin(period: Period, counted: Spent, nowMs: number): void {
    this.#period = period;
    this.#spent = plus(this.#load(nowMs), counted);
    this.#keep();
  }

  /** Of the current period. */
  #load(nowMs: number): Spent {
    const loaded = this.#tried(() => this.#ports.load(this.#period), nowMs);
    if (loaded) this.#isKnown = true;
    return loaded ?? nothing;
  }

  /** Undefined if it fails, which is said once and not each time it is tried again. */
  #tried<T>(ask: () => T, nowMs: number): T | undefined {
    try {
      return ask();
    } catch (error) {
      if (!this.#hasTold) this.#ports.failed(error);
      this.#hasTold = true;
      this.#askAgainAt = nowMs;
      return undefined;
    }
  }

  /** What is only a part must not take the place of the sum that was kept. */
  #keep(): void {
    if (this.#isKnown && this.#isRecalled) this.#ports.keep({ ...this.#period, spent: this.#spent });
  }
}

function plus(a: Spent, b: Spent): Spent {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens, unpriced: a.unpriced + b.unpriced };
}

function largest(a: Spent, b: Spent): Spent {
  return {
    usd: Math.max(a.usd, b.usd),
    tokens: Math.max(a.tokens, b.tokens),
    unpriced: Math.max(a.unpriced, b.unpriced),
  };
}
