/**
 * Summaries of a part of the ledger, such as what a person may see. There are no stored totals for parts, so they are
 * computed from requests.
 */

import type { Within } from '../../contract/people.ts';
import type { UsageView } from '../../contract/request-views.ts';
import { dayMs } from '../../contract/units.ts';
import { displayedCost, type Sums } from './sums.ts';
import type { UsageOverTimeQuery, UsageQuery } from './usage-query.ts';

/** Days of it are integers of PostgreSQL. */
const endOfTimeMs = Number.MAX_SAFE_INTEGER;

/** The sums of a step. */
export type UsageStep = Sums & { startMs: number; name: string | null };

/** The questions to ask: one step for each day, or one for all. */
export function stepsOf({ by, names, within, ...time }: UsageQuery & { within: Within }): UsageOverTimeQuery {
  const { sinceMs = 0, untilMs = endOfTimeMs, utcOffsetMinutes = 0 } = time;
  const stepMs = by === 'day' ? dayMs : endOfTimeMs;
  return { by, within, sinceMs, untilMs, stepMs, utcOffsetMinutes, ...(names && by !== 'day' && { names }) };
}

/** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
export function summaryOf(steps: readonly UsageStep[], { by, utcOffsetMinutes = 0 }: UsageQuery): UsageView[] {
  const dateOf = (startMs: number) => new Date(startMs + utcOffsetMinutes * 60_000).toISOString().slice(0, 10);
  const views = steps.map(({ startMs, name, ...sums }) => ({
    ...sums,
    name: by === 'day' ? dateOf(startMs) : name,
    costUsd: displayedCost(sums),
  }));
  return by === 'day' ? views : views.sort(byCost);
}

/** Highest first. */
export const byCost = (one: UsageView, other: UsageView) =>
  (other.costUsd ?? 0) - (one.costUsd ?? 0) || other.requests - one.requests;
