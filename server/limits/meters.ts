/** Evaluates limits against an account: the usage of each, and which one blocks a request. */

import type { Period } from '../contract/calendar.ts';
import { inNanodollars } from '../contract/count.ts';
import type { Budget, Limits } from '../contract/limit-settings.ts';
import { type Limited, type LimitMeter, paceOf } from '../contract/limits.ts';
import { minuteMs } from '../contract/units.ts';
import type { Spent } from '../store/sqlite/usage-history.ts';
import type { Clocks, Estimate } from './account.ts';

/** An amount in the last minute. Times are milliseconds of a monotonic clock. */
export interface Window {
  sum(nowMs: number): number;
  /** Milliseconds until the sum is below `limit` if nothing is added. */
  waitMs(limit: number, nowMs: number): number;
  /** Milliseconds until the window is empty if nothing is added. */
  emptyInMs(nowMs: number): number;
}

/** The usage of a key or group, as counted here or by all replicas. */
export interface Counted {
  readonly requests: Window;
  readonly tokens: Window;
  /** The number of running requests. */
  readonly running: number;
  readonly reserved: Estimate;
  /** `isKnown` false: it may be more. */
  spent(per: Budget['per']): { period: Period; spent: Spent; isKnown: boolean };
}

/** A reached limit, and the wait until it is not; null: waiting does not help. */
export interface Exceeded {
  meter: LimitMeter;
  waitMs: number | null;
}

/** The rest of a hard budget, and the part of it reserved by running requests. */
interface Room {
  remaining: number;
  reserved: number;
}

/** A guess: it depends on the running requests. */
const placeFreeInMs = 1_000;

/**
 * Returns the reached limit with the longest wait. A hard budget is reached unless something is left even in the worst case
 * of all running requests, so that only the last admitted request can exceed it.
 */
export function findExceeded(
  account: Counted,
  limits: Limits,
  { clocks, isFree, isPart }: { clocks: Clocks; isFree: boolean; isPart: boolean },
): Exceeded | null {
  const waits: { meter: LimitMeter; waitMs: number }[] = [];
  for (const budget of limits.budgets) {
    if (!budget.hard || isFree) continue;
    const { remaining, reserved } = roomOf(account, budget);
    if (remaining > reserved) continue;
    if (remaining <= 0) return { meter: budgetMeter(account, budget), waitMs: null };
    waits.push({ meter: budgetMeter(account, budget), waitMs: placeFreeInMs });
  }
  for (const meter of rateMeters(account, limits, clocks)) {
    if (isPart && meter.kind === 'concurrent') continue;
    if (meter.used >= meter.amount) waits.push({ meter, waitMs: waitOf(account, meter, clocks.steadyMs()) });
  }
  return waits.sort((a, b) => b.waitMs - a.waitMs)[0] ?? null;
}

/** A hard budget of which nothing is left, whatever still runs; null if there is none. */
export function findSpent(account: Counted, { budgets }: Limits): Exceeded | null {
  const spent = budgets.find((budget) => budget.hard && roomOf(account, budget).remaining <= 0);
  return spent ? { meter: budgetMeter(account, spent), waitMs: null } : null;
}

function roomOf(account: Counted, { unit, amount, per }: Budget): Room {
  const [spent, reserved] = [account.spent(per).spent[unit], account.reserved.most[unit]];
  return { remaining: inNanodollars(amount - spent), reserved: inNanodollars(reserved) };
}

export function metersOf(
  account: Counted,
  { limits, sinceMs }: Pick<Limited, 'limits' | 'sinceMs'>,
  clocks: Clocks,
): LimitMeter[] {
  // By the minute, so that a meter whose use stays the same is not told anew all the time.
  const nowMs = Math.floor(clocks.wallMs() / minuteMs) * minuteMs;
  const paced = limits.budgets.map((budget): LimitMeter => {
    const { period, spent } = account.spent(budget.per);
    const startMs = Math.max(period.startMs, sinceMs);
    const { amount, unit } = budget;
    const pace = paceOf({ used: spent[unit], amount, startMs, endMs: period.endMs, nowMs });
    return { ...budgetMeter(account, budget), pace };
  });
  return [...rateMeters(account, limits, clocks), ...paced];
}

function budgetMeter(account: Counted, budget: Budget): LimitMeter {
  const { period, spent } = account.spent(budget.per);
  const { likely } = account.reserved;
  return {
    kind: 'budget',
    budget,
    amount: budget.amount,
    used: budget.unit === 'usd' ? inNanodollars(spent.usd + likely.usd) : spent.tokens + likely.tokens,
    unpriced: budget.unit === 'usd' ? spent.unpriced : 0,
    pace: null,
    resetsAt: Number.isFinite(period.endMs) ? period.endMs : null,
  };
}

export function rateMeters(account: Counted, limits: Limits, { wallMs, steadyMs }: Clocks): LimitMeter[] {
  const steady = steadyMs();
  const meters: LimitMeter[] = [];
  for (const [kind, amount] of [
    ['requests', limits.requestsPerMinute],
    ['tokens', limits.tokensPerMinute],
  ] as const) {
    if (amount === undefined) continue;
    const window = account[kind];
    const resetsAt = Math.round(wallMs() + window.emptyInMs(steady));
    meters.push({ kind, budget: null, amount, used: window.sum(steady), unpriced: 0, pace: null, resetsAt });
  }
  const { concurrent: amount } = limits;
  if (amount !== undefined)
    meters.push({
      kind: 'concurrent',
      budget: null,
      amount,
      used: account.running,
      unpriced: 0,
      pace: null,
      resetsAt: null,
    });
  return meters;
}

function waitOf(account: Counted, { kind, amount }: LimitMeter, steadyMs: number): number {
  if (kind === 'requests' || kind === 'tokens') return account[kind].waitMs(amount, steadyMs);
  return placeFreeInMs;
}
