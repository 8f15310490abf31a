/** Limits: their use and pace, and what of them needs attention. Pure. */

import { localCalendar } from './calendar.ts';
import type { Budget, Limits } from './limit-settings.ts';
import type { UsageView } from './request-views.ts';
import { dayMs } from './units.ts';

export type LimitScope = 'key' | 'group' | 'person';
/** What the ledger sums by, and is shown all the time; a person is the sum of their keys. */
export type CountedScope = Exclude<LimitScope, 'person'>;

/** A key, a group, or a person with all of their keys, that has limits. */
export interface Limited {
  scope: LimitScope;
  id: string;
  /** The group itself, or the group of the key; null for a person. */
  groupId: string | null;
  name: string;
  limits: Limits;
  /** Unix milliseconds; earlier usage belongs to a removed key of the same id. */
  sinceMs: number;
}

/** A limit and its present usage, including the reservations of running requests. */
export interface LimitMeter {
  /** `requests` and `tokens` are per minute; `concurrent` counts running requests. */
  kind: 'requests' | 'tokens' | 'concurrent' | 'budget';
  /** Set for a `budget` only. */
  budget: Budget | null;
  amount: number;
  /** US dollars, tokens or requests. */
  used: number;
  /** For a budget in dollars: the number of requests of unknown cost, which `used` does not include. */
  unpriced: number;
  /** Of a budget with a period: how it goes on. Null if that cannot be told. */
  pace: Pace | null;
  /** When usage returns to zero, in Unix milliseconds; null if it does not do so at a given time. */
  resetsAt: number | null;
}

/** The percentages of a budget that are reported, from the lowest. */
export function noticePercents({ notifyAt = [80, 100] }: Budget): number[] {
  return [...new Set(notifyAt)].sort((a, b) => a - b);
}

/** A percentage of a budget that is to be reported is spent. Reported once in each period. */
export interface LimitReached {
  scope: LimitScope;
  id: string;
  name: string;
  budget: Budget;
  percent: number;
  used: number;
  /** Unix milliseconds; null if never. */
  resetsAt: number | null;
}

/** How long before it expires a key is spoken of. */
const noticeMs = 7 * dayMs;

interface Expiring {
  enabled: boolean;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}

/**
 * Which keys and groups need a person's attention. Pure.
 *
 * Null: nothing is to be said of a key's expiry.
 */
export function expiryConcern({ enabled, expiresAt }: Expiring, nowMs: number): 'expired' | 'expires' | null {
  if (!enabled || expiresAt === null) return null;
  const atMs = Date.parse(expiresAt);
  if (atMs <= nowMs) return 'expired';
  return atMs - nowMs < noticeMs ? 'expires' : null;
}

/** From the first percentage on that the engine reports; of a budget that reports none once it is spent. */
export function isNearlySpent({ budget, used, amount }: LimitMeter): boolean {
  if (budget === null) return false;
  const [first = 100] = noticePercents(budget);
  return used >= (amount * first) / 100;
}

/** What its requests cost is nowhere counted: such a budget never ends. */
export function isUnpriced({ budget, unpriced }: LimitMeter): boolean {
  return budget !== null && unpriced > 0;
}

/** Of the budgets of a key or group. */
export function needsAttention(limitUse: readonly LimitMeter[]): boolean {
  return limitUse.some((meter) => isNearlySpent(meter) || isUnpriced(meter));
}

export interface Pace {
  /** The amount at the end of the period. */
  expected: number;
  /** When the whole budget is spent, in Unix milliseconds; null if not in this period, or if it is spent already. */
  spentAt: number | null;
}

interface PacedAmount {
  used: number;
  /** Of the budget; absent if there is none. */
  amount?: number;
  /** Unix milliseconds: the period, or the part of it in which anything could be used. */
  startMs: number;
  endMs: number;
  nowMs: number;
}

/** The part of a period that must have passed before it tells anything. */
const leastShare = 1 / 50;

/** Null if nothing was used, if too little of the period has passed, or if it has no end. */
export function paceOf({ used, amount, startMs, endMs, nowMs }: PacedAmount): Pace | null {
  const passedMs = nowMs - startMs;
  if (used <= 0 || !Number.isFinite(endMs - startMs) || passedMs < (endMs - startMs) * leastShare) return null;
  const perMs = used / passedMs;
  const spentAt = amount === undefined || used >= amount ? null : Math.round(nowMs + (amount - used) / perMs);
  // No more digits than a guess has, which different ways of adding up the same amounts agree on.
  const expected = Number((perMs * (endMs - startMs)).toPrecision(6));
  return { expected, spentAt: spentAt !== null && spentAt < endMs ? spentAt : null };
}

/** The present month of this machine's time zone up to now, as `usage` asks for it. */
export function monthSoFar(nowMs: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: localCalendar().periodOf('month', nowMs).startMs, untilMs: nowMs + 1 };
}

export interface MonthForecast {
  /** What is known of the cost so far. */
  costUsd: number;
  /** At the end of the month, never less than so far; null if that cannot be told. */
  expectedUsd: number | null;
}

/** From the days of `monthSoFar` with requests; the pace is that since the first of them. Null if nothing is known to have cost anything. */
export function forecastMonth(
  days: readonly Pick<UsageView, 'name' | 'costUsd'>[],
  nowMs: number,
): MonthForecast | null {
  const { endMs } = localCalendar().periodOf('month', nowMs);
  const costUsd = days.reduce((sum, day) => sum + (day.costUsd ?? 0), 0);
  const starts = days.flatMap(({ name }) => (name === null ? [] : [new Date(`${name}T00:00`).getTime()]));
  if (costUsd === 0) return null;
  const pace = paceOf({ used: costUsd, startMs: Math.min(...starts), endMs, nowMs });
  // The guess has fewer digits than the cost.
  return { costUsd, expectedUsd: pace && Math.max(costUsd, pace.expected) };
}
