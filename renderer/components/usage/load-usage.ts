/** All figures of the overview for a range, queried together so that they agree. */

import { localCalendar, localZone } from '../../../server/contract/calendar.ts';
import { forecastMonth, type MonthForecast, monthSoFar } from '../../../server/contract/limits.ts';
import type { QueryInputMap, QueryResults } from '../../../server/contract/queries.ts';
import { dayMs } from '../../../server/contract/units.ts';
import type { ControlStore } from '../../state/control/control-store.ts';
import { type CountedMetric, leadersOf, type Metric, type NamedCounted } from './usage-figures.ts';
import { defaultRange, gridOf, type RangeName, type TimeGrid } from './usage-range.ts';

export type Dimension = Exclude<QueryInputMap['usage']['by'], 'day'>;

export interface UsageQuestion {
  /** Null for the range that fits the data. */
  range: RangeName | null;
  by: Dimension;
  metric: Metric;
}

export interface UsageAnswers extends Omit<UsageQuestion, 'range'> {
  range: RangeName;
  grid: TimeGrid;
  byName: NamedCounted[];
  total: QueryResults['usage-over-time'];
  /** The names with a series of their own in the chart. */
  leaders: (string | null)[];
  leaderSteps: QueryResults['usage-over-time'];
  firstByte: QueryResults['first-byte-times'];
  /** What this month has cost, and comes to; null if nothing is known to have cost anything. */
  month: (MonthForecast & { sinceMs: number }) | null;
  /** Of the leaders, if the metric is the first byte. */
  firstByteByName: QueryResults['first-byte-times']['named'];
}

type Query = ControlStore['query'];

const maxSeries = 5;

export function countedOf(metric: Metric): CountedMetric {
  return metric === 'firstByte' ? 'requests' : metric;
}

export async function loadUsage(query: Query, question: UsageQuestion, nowMs: number): Promise<UsageAnswers> {
  const { by, metric } = question;
  const range = question.range ?? (await findRange(query, nowMs));
  const grid = gridOf(range, nowMs);
  const { sinceMs, untilMs } = grid;
  const monthRange = monthSoFar(nowMs);
  const [byName, total, firstByte, monthDays] = await Promise.all([
    query<'usage'>({ type: 'usage', by, sinceMs, untilMs }),
    query<'usage-over-time'>({ type: 'usage-over-time', by: 'day', ...grid }),
    query<'first-byte-times'>({ type: 'first-byte-times', ...grid }),
    query<'usage'>({ type: 'usage', by: 'day', zone: localZone(), ...monthRange }),
  ]);
  const forecast = forecastMonth(monthDays, nowMs);
  const leaders = leadersOf(byName, countedOf(metric), maxSeries).map(({ name }) => name);
  const names = leaders.map((name) => name ?? '');
  const isFirstByte = metric === 'firstByte' && names.length > 0;
  const [leaderSteps, byLeader] = await Promise.all([
    names.length > 0 ? query<'usage-over-time'>({ type: 'usage-over-time', by, names, ...grid }) : [],
    isFirstByte ? query<'first-byte-times'>({ type: 'first-byte-times', by, names, ...grid }) : null,
  ]);
  return {
    by,
    metric,
    range,
    grid,
    byName,
    total,
    leaders,
    leaderSteps,
    firstByte,
    month: forecast && { ...forecast, sinceMs: monthRange.sinceMs },
    firstByteByName: byLeader?.named ?? [],
  };
}

async function findRange(query: Query, nowMs: number): Promise<RangeName> {
  const startsOf = async (spanMs: number, stepMs: number) => {
    const time = { sinceMs: nowMs - spanMs, untilMs: nowMs + 1, stepMs };
    const steps = await query<'usage-over-time'>({ type: 'usage-over-time', by: 'day', ...time });
    return steps.map(({ startMs }) => startMs);
  };
  const lastDay = await startsOf(dayMs, dayMs / 96);
  return defaultRange(lastDay.length > 0 ? lastDay : await startsOf(90 * dayMs, dayMs), nowMs);
}

/** The cost of today so far; null if unknown. */
export async function loadSpentToday(query: Query, nowMs: number): Promise<{ usd: number | null; sinceMs: number }> {
  const sinceMs = localCalendar().periodOf('day', nowMs).startMs;
  const rows = await query<'usage'>({ type: 'usage', by: 'provider', sinceMs, untilMs: nowMs + 1 });
  const knownCosts = rows.map(({ costUsd }) => costUsd).filter((cost) => cost !== null);
  const usd = rows.length > 0 && knownCosts.length === 0 ? null : knownCosts.reduce((sum, cost) => sum + cost, 0);
  return { usd, sinceMs };
}
