/** What an amount comes to if it goes on as it did in its period so far. */
import { localCalendar } from './calendar.ts';
import type { UsageView } from './request-views.ts';

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
  /** At the end of the month; null if that cannot be told. */
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
  return { costUsd, expectedUsd: pace?.expected ?? null };
}
