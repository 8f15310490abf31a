/**
 * What was spent in the current period of one kind. The ledger is asked at the start of each period and whenever the clock
 * leads into another one; in between it is added up here.
 *
 * Where a clock is set back into an earlier period, what was counted since stays counted beside what the ledger has of that
 * period: setting a clock back opens no budget. Once it is right again, the ledger's sums are too, so none stays shut.
 */
import type { Budget } from '../contract/config.ts';
import type { Spent } from '../ledger/usage-history.ts';
import { type Period, periodOf } from './period.ts';

export const nothing: Spent = { usd: 0, tokens: 0, unpriced: 0 };

/** Throws if the ledger cannot be read now. */
type LoadSpent = (period: Period) => Spent;

/** How long to go on with what is known here where the ledger cannot be read. */
const retryMs = 5_000;

export class Spending {
  readonly #per: Budget['per'];
  readonly #load: LoadSpent;
  readonly #failed: (error: unknown) => void;
  #period: Period;
  #spent = nothing;
  /** Unix milliseconds; null while the ledger has told. */
  #askAgainAt: number | null = null;

  constructor(per: Budget['per'], ports: { load: LoadSpent; failed(error: unknown): void; nowMs: number }) {
    this.#per = per;
    this.#load = ports.load;
    this.#failed = ports.failed;
    this.#period = periodOf(per, ports.nowMs);
    this.#begin(this.#period, nothing, ports.nowMs);
  }

  /** The period that `nowMs` lies in, with what was spent in it. */
  at(nowMs: number): { period: Period; spent: Spent } {
    const { startMs, endMs } = this.#period;
    if (nowMs < startMs) {
      const earlier = periodOf(this.#per, nowMs);
      this.#begin({ ...earlier, endMs: Math.min(earlier.endMs, startMs) }, this.#spent, nowMs);
    } else if (nowMs >= endMs) this.#begin(periodOf(this.#per, nowMs), nothing, nowMs);
    else if (this.#askAgainAt !== null && Math.abs(nowMs - this.#askAgainAt) >= retryMs)
      this.#begin(this.#period, nothing, nowMs);
    return { period: this.#period, spent: this.#spent };
  }

  /** Counts for the period that a request began in, as in the ledger. */
  add(startedAt: number, used: Spent): void {
    if (startedAt < this.#period.startMs || startedAt >= this.#period.endMs) return;
    this.#spent = plus(this.#spent, used);
  }

  #begin(period: Period, kept: Spent, nowMs: number): void {
    try {
      this.#spent = plus(this.#load(period), kept);
      this.#askAgainAt = null;
    } catch (error) {
      // A new period has nothing yet; one that goes on keeps what was counted.
      if (period !== this.#period) this.#spent = kept;
      // Said once, not each time it is tried again.
      if (this.#askAgainAt === null) this.#failed(error);
      this.#askAgainAt = nowMs;
    }
    this.#period = period;
  }
}

function plus(a: Spent, b: Spent): Spent {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens, unpriced: a.unpriced + b.unpriced };
}
