/**
 * The amount spent in the current period of one kind. It is loaded from the ledger at the start of each period, updated
 * in memory, and stored in the budgets' file with each change. After a start the larger of the two counts, so that
 * losing either file does not reset a budget.
 *
 * If the clock is set back into an earlier period, the amount counted so far is added to what the ledger has for that
 * period, so that this does not reset a budget. Once the clock is right again, the ledger's totals are used.
 *
 * A ledger that answers asynchronously is shared with other replicas, so it is read again every few seconds.
 */

import { localCalendar, type Period } from '../contract/calendar.ts';
import { inNanodollars } from '../contract/count.ts';
import type { Budget } from '../contract/limit-settings.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { BudgetSum } from '../store/sqlite/budget-sums.ts';
import type { Spent } from '../store/sqlite/usage-history.ts';

export const noSpending: Spent = { usd: 0, tokens: 0, unpriced: 0 };

interface SpendingPorts {
  /** The ledger's total. Throws or rejects if it cannot be read now. */
  load(period: Period): MaybePromise<Spent>;
  /** The stored total; null: none. Throws if it cannot be read now. */
  readStoredTotal(): BudgetSum | null;
  keep(sum: BudgetSum): void;
  failed(error: unknown): void;
}

/** Interval of retries while a file cannot be read, and of reads of a ledger that other replicas write as well. */
const retryMs = 5_000;

export class Spending {
  readonly #per: Budget['per'];
  readonly #ports: SpendingPorts;
  #period: Period;
  #spent = noSpending;
  /** The part of it that requests used which ended here. */
  #own = noSpending;
  /** At least one of ledger and stored total was read, so `#spent` is complete. */
  #isKnown = false;
  #isLoaded = false;
  /** Unix milliseconds of a failed read, or of one that has to be repeated; null once both were read. */
  #askAgainAt: number | null = null;
  /** The present problem has been reported; it is reported only once. */
  #hasReported = false;
  #loading: Promise<void> | null = null;

  constructor(per: Budget['per'], ports: SpendingPorts, nowMs: number) {
    this.#per = per;
    this.#ports = ports;
    this.#period = localCalendar().periodOf(per, nowMs);
    this.#ask(nowMs);
  }

  /** Resolves once a pending read of the ledger has ended; null if none is pending. Does not reject. */
  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** The period of `nowMs` and the amount spent; `isKnown` false: it may be more. */
  at(nowMs: number): { period: Period; spent: Spent; isKnown: boolean } {
    if (this.#askAgainAt !== null && Math.abs(nowMs - this.#askAgainAt) >= retryMs) this.#ask(nowMs);
    else this.#follow(nowMs);
    return { period: this.#period, spent: this.#spent, isKnown: this.#isKnown };
  }

  /** Counts a request in the period in which it began, as the ledger does. */
  add(startedAt: number, used: Spent): void {
    if (startedAt < this.#period.startMs || startedAt >= this.#period.endMs) return;
    this.#spent = plus(this.#spent, used);
    this.#own = plus(this.#own, used);
    this.#keep();
  }

  /** What requests that ended here have used in the period of `nowMs`, for which the ledger is not asked again. */
  own(nowMs: number): Spent {
    this.#follow(nowMs);
    return this.#own;
  }

  /** At start, and again if not both could be read. */
  #ask(nowMs: number): void {
    this.#askAgainAt = null;
    if (!this.#isLoaded) this.#loadStoredTotal(nowMs);
    const isSame = this.#period.startMs <= nowMs && nowMs < this.#period.endMs;
    if (isSame) this.#spent = largest(this.#spent, this.#load(nowMs));
    else this.#follow(nowMs);
    if (this.#askAgainAt === null) this.#hasReported = false;
    this.#keep();
  }

  #loadStoredTotal(nowMs: number): void {
    const stored = this.#tryRead(() => this.#ports.readStoredTotal(), nowMs);
    if (stored === undefined) return;
    this.#isLoaded = true;
    if (stored === null) return;
    // A later period would have replaced it with its first request.
    this.#isKnown = true;
    if (stored.endMs <= this.#period.startMs) return;
    const { startMs, endMs, spent } = stored;
    this.#spent = startMs === this.#period.startMs ? largest(this.#spent, spent) : spent;
    this.#period = { startMs, endMs };
  }

  /** Switches to the period of `nowMs`. */
  #follow(nowMs: number): void {
    const { startMs, endMs } = this.#period;
    if (nowMs < startMs) {
      const earlier = localCalendar().periodOf(this.#per, nowMs);
      this.#begin({ ...earlier, endMs: Math.min(earlier.endMs, startMs) }, this.#spent, nowMs);
    } else if (nowMs >= endMs) this.#begin(localCalendar().periodOf(this.#per, nowMs), noSpending, nowMs);
  }

  #begin(period: Period, spent: Spent, nowMs: number): void {
    this.#period = period;
    this.#spent = plus(this.#load(nowMs), spent);
    this.#own = noSpending;
    this.#keep();
  }

  /** The ledger's total of the current period; zero while it is being read. */
  #load(nowMs: number): Spent {
    const period = this.#period;
    const loaded = this.#tryRead(() => this.#ports.load(period), nowMs);
    if (loaded === undefined) return noSpending;
    if (loaded instanceof Promise) {
      this.#askAgainAt = nowMs;
      this.#loading = this.#addLater(loaded, period);
      return noSpending;
    }
    this.#isKnown = true;
    return loaded;
  }

  async #addLater(loading: Promise<Spent>, period: Period): Promise<void> {
    try {
      const loaded = await loading;
      this.#hasReported = false;
      if (this.#period !== period) return;
      this.#spent = largest(this.#spent, loaded);
      this.#isKnown = true;
    } catch (error) {
      this.#reportOnce(error);
    }
  }

  /** Undefined if it fails; only the first of several failures is reported. */
  #tryRead<T>(ask: () => T, nowMs: number): T | undefined {
    try {
      return ask();
    } catch (error) {
      this.#reportOnce(error);
      this.#askAgainAt = nowMs;
      return undefined;
    }
  }

  #reportOnce(error: unknown): void {
    if (!this.#hasReported) this.#ports.failed(error);
    this.#hasReported = true;
  }

  /** An incomplete total must not replace the stored one. */
  #keep(): void {
    if (this.#isKnown && this.#isLoaded) this.#ports.keep({ ...this.#period, spent: this.#spent });
  }
}

function plus(a: Spent, b: Spent): Spent {
  return { usd: inNanodollars(a.usd + b.usd), tokens: a.tokens + b.tokens, unpriced: a.unpriced + b.unpriced };
}

/** The larger amount of each unit. */
export function largest(a: Spent, b: Spent): Spent {
  return {
    usd: Math.max(a.usd, b.usd),
    tokens: Math.max(a.tokens, b.tokens),
    unpriced: Math.max(a.unpriced, b.unpriced),
  };
}
