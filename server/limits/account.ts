/** What one key, or all keys of one group together, have used: in the last minute, at this moment, in a period. */
import type { Budget } from '../contract/config.ts';
import type { LimitScope } from '../contract/limits.ts';
import type { BudgetSum, BudgetSums } from '../ledger/budget-sums.ts';
import type { Amounts, Spent, UsageHistory } from '../ledger/usage-history.ts';
import { MinuteWindow } from './minute-window.ts';
import type { Period } from './period.ts';
import { nothing, Spending } from './spending.ts';

/** Wall time decides which day it is; minutes are measured by a clock that nobody sets. Both in milliseconds. */
export interface Clocks {
  wallMs(): number;
  steadyMs(): number;
}

interface AccountPorts {
  scope: LimitScope;
  id: string;
  /** Unix milliseconds; what was before is another's. */
  sinceMs: number;
  clocks: Clocks;
  history: UsageHistory;
  /** What jobs that go on after their requests may still cost. */
  held(): ReadonlyMap<string, Amounts> | undefined;
  sums: Pick<BudgetSums, 'find' | 'keep'>;
  /** Ledger or kept sums could not be read; they are asked again later. */
  failed(error: unknown): void;
}

/** What a request may come to. */
export interface Estimate {
  /** As a rule: held against limits by the minute, and shown as used. */
  likely: Amounts;
  /** In the worst case: held against hard budgets. */
  most: Amounts;
}

/** What is asked about a job, or how much something would be: no budget stands in its way. */
export const free: Estimate = { likely: nothing, most: nothing };

/** What a request holds while it runs. */
export interface Reservation {
  /** By the clock that nobody sets. */
  atMs: number;
  estimate: Estimate;
}

/** How a request ended. */
export interface Settled {
  /** Unix milliseconds. */
  startedAt: number;
  used: Spent;
  /** It never reached a provider, so it does not count as a request either. */
  isVoid: boolean;
}

const minuteMs = 60_000;

export class Account {
  readonly requests: MinuteWindow;
  readonly tokens: MinuteWindow;
  readonly #ports: AccountPorts;
  readonly #spending = new Map<Budget['per'], Spending>();
  #running = 0;
  #reserved = free;

  constructor(ports: AccountPorts) {
    this.#ports = ports;
    const steady = ports.clocks.steadyMs();
    this.requests = new MinuteWindow(steady);
    this.tokens = new MinuteWindow(steady);
    this.#recall(ports.clocks.wallMs(), steady);
  }

  /** Requests that run now. */
  get running(): number {
    return this.#running;
  }

  /** What requests under way have reserved, and jobs that go on after theirs. */
  get reserved(): Estimate {
    const held = this.#ports.held();
    return held ? { ...this.#reserved, most: [...held.values()].reduce(sum, this.#reserved.most) } : this.#reserved;
  }

  /** What those that ended have spent in the current period. Not known: it may be more, and cannot be read now. */
  spent(per: Budget['per']): { period: Period; spent: Spent; isKnown: boolean } {
    return this.#spendingOf(per).at(this.#ports.clocks.wallMs());
  }

  reserve({ atMs, estimate }: Reservation): void {
    this.#running += 1;
    this.requests.add(atMs, 1, atMs);
    this.tokens.add(atMs, estimate.likely.tokens, atMs);
    this.#reserved = {
      likely: sum(this.#reserved.likely, estimate.likely),
      most: sum(this.#reserved.most, estimate.most),
    };
  }

  /** In place of what was reserved comes what was used; what was underestimated counts from now on. */
  settle({ atMs, estimate }: Reservation, { startedAt, used, isVoid }: Settled): void {
    const steady = this.#ports.clocks.steadyMs();
    this.#running -= 1;
    if (isVoid) this.requests.add(atMs, -1, steady);
    const more = used.tokens - estimate.likely.tokens;
    this.tokens.add(more > 0 ? steady : atMs, more, steady);
    // Without one under way nothing is reserved, whatever rounding says.
    this.#reserved = this.#running === 0 ? free : minus(this.#reserved, estimate);
    this.count(startedAt, used);
  }

  /** Counts what a request used that began before there was a limit. */
  count(startedAt: number, used: Spent): void {
    for (const spending of this.#spending.values()) spending.add(startedAt, used);
  }

  #spendingOf(per: Budget['per']): Spending {
    let spending = this.#spending.get(per);
    if (!spending) {
      const { scope, id, sinceMs, history, sums, failed, clocks } = this.#ports;
      const owner = { scope, id, per, sinceMs };
      const load = ({ startMs, endMs }: Period) => {
        const isTotal = !Number.isFinite(startMs);
        return history.spent(scope, id, { startMs: isTotal ? startMs : Math.max(startMs, sinceMs), endMs });
      };
      const recall = () => sums.find(owner);
      const keep = (sum: BudgetSum) => sums.keep(owner, sum);
      spending = new Spending(per, { load, recall, keep, failed }, clocks.wallMs());
      this.#spending.set(per, spending);
    }
    return spending;
  }

  /** What happened in the minute before, in an earlier run or before there was a limit. */
  #recall(nowMs: number, steadyMs: number): void {
    const { scope, id, history, failed } = this.#ports;
    try {
      for (const { startedAt, tokens } of history.requestsSince(scope, id, nowMs - minuteMs)) {
        if (startedAt > nowMs) continue;
        const atMs = steadyMs - (nowMs - startedAt);
        this.requests.add(atMs, 1, steadyMs);
        this.tokens.add(atMs, tokens, steadyMs);
      }
    } catch (error) {
      failed(error);
    }
  }
}

function sum(a: Amounts, b: Amounts): Amounts {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens };
}

function difference(a: Amounts, b: Amounts): Amounts {
  return { usd: a.usd - b.usd, tokens: a.tokens - b.tokens };
}

function minus(a: Estimate, b: Estimate): Estimate {
  return { likely: difference(a.likely, b.likely), most: difference(a.most, b.most) };
}
