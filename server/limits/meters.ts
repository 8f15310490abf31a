/** What limits say of an account: how much of each is used, and which one keeps a request out. */
import type { Budget, Limits } from '../contract/config.ts';
import type { LimitMeter } from '../contract/limits.ts';
import type { Account, Clocks } from './account.ts';

/** A limit that is reached, and in how many milliseconds it is not; null: waiting a while does not help. */
export interface Exceeded {
  meter: LimitMeter;
  waitMs: number | null;
}

/** When a place is free depends on the requests that hold it. */
const placeFreeInMs = 1_000;

/** As long as something is left a request may begin. Of several the one that lasts longest: a budget before all else. */
export function findExceeded(account: Account, limits: Limits, clocks: Clocks): Exceeded | null {
  for (const budget of limits.budgets) {
    if (!budget.hard) continue;
    const meter = budgetMeter(account, budget);
    if (meter.used >= meter.amount) return { meter, waitMs: null };
  }
  const waits = rateMeters(account, limits, clocks)
    .filter(({ used, amount }) => used >= amount)
    .map((meter) => ({ meter, waitMs: waitOf(account, meter, clocks.steadyMs()) }));
  return waits.sort((a, b) => b.waitMs - a.waitMs)[0] ?? null;
}

export function metersOf(account: Account, limits: Limits, clocks: Clocks): LimitMeter[] {
  return [...rateMeters(account, limits, clocks), ...limits.budgets.map((budget) => budgetMeter(account, budget))];
}

function budgetMeter(account: Account, budget: Budget): LimitMeter {
  const { period, spent } = account.spent(budget.per);
  const { reserved } = account;
  return {
    kind: 'budget',
    budget,
    amount: budget.amount,
    used: budget.unit === 'usd' ? spent.usd + reserved.usd : spent.tokens + reserved.tokens,
    unpriced: budget.unit === 'usd' ? spent.unpriced : 0,
    resetsAt: Number.isFinite(period.endMs) ? period.endMs : null,
  };
}

export function rateMeters(account: Account, limits: Limits, { wallMs, steadyMs }: Clocks): LimitMeter[] {
  const steady = steadyMs();
  const meters: LimitMeter[] = [];
  for (const [kind, amount] of [
    ['requests', limits.requestsPerMinute],
    ['tokens', limits.tokensPerMinute],
  ] as const) {
    if (amount === undefined) continue;
    const window = account[kind];
    const resetsAt = Math.round(wallMs() + window.emptyInMs(steady));
    meters.push({ kind, budget: null, amount, used: window.sum(steady), unpriced: 0, resetsAt });
  }
  const { concurrent: amount } = limits;
  if (amount !== undefined)
    meters.push({ kind: 'concurrent', budget: null, amount, used: account.running, unpriced: 0, resetsAt: null });
  return meters;
}

function waitOf(account: Account, { kind, amount }: LimitMeter, steadyMs: number): number {
  if (kind === 'requests' || kind === 'tokens') return account[kind].waitMs(amount, steadyMs);
  return placeFreeInMs;
}
