/** The time range of the overview and its steps. Times are Unix milliseconds. */
import { calendarOf, localZone } from '../../../server/contract/calendar.ts';
import { dayMs, hourMs, minuteMs, quarterMs } from '../../../server/contract/units.ts';
import type { Messages } from '../../messages/en/en.ts';

export type RangeName = keyof Messages['overview']['ranges'];

export interface TimeGrid {
  sinceMs: number;
  untilMs: number;
  stepMs: number;
  /** IANA name. */
  zone: string;
}

const ranges: Record<RangeName, { spanMs: number; stepMs: number }> = {
  hour: { spanMs: hourMs, stepMs: minuteMs },
  sixHours: { spanMs: 6 * hourMs, stepMs: quarterMs },
  day: { spanMs: dayMs, stepMs: 2 * quarterMs },
  week: { spanMs: 7 * dayMs, stepMs: 4 * hourMs },
  month: { spanMs: 30 * dayMs, stepMs: dayMs },
  quarter: { spanMs: 90 * dayMs, stepMs: dayMs },
};

export const rangeNames = Object.keys(ranges) as RangeName[];

/** Starts at a quarter of an hour, as the engine's sums do, so that all figures cover the same time. */
export function gridOf(range: RangeName, nowMs: number): TimeGrid {
  const { spanMs, stepMs } = ranges[range];
  const sinceMs = Math.floor((nowMs - spanMs) / quarterMs) * quarterMs;
  return { sinceMs, untilMs: nowMs + 1, stepMs, zone: localZone() };
}

/** The start of each step, including steps without requests. */
export function stepsOf(grid: TimeGrid): number[] {
  return calendarOf(grid.zone)
    .stepsOf(grid.stepMs, grid)
    .map(({ startMs }) => startMs);
}

/**
 * The shortest range that covers all requests of the last 24 hours. Without any, the shortest that reaches the latest
 * request, or an hour if there is none.
 */
export function defaultRange(startsMs: readonly number[], nowMs: number): RangeName {
  const ages = startsMs.map((startMs) => nowMs - startMs);
  const ofLastDay = ages.filter((ageMs) => ageMs < dayMs);
  // A step may start before its first request.
  if (ofLastDay.length > 0) return shortestRangeFor(Math.max(...ofLastDay) - quarterMs);
  return ages.length > 0 ? shortestRangeFor(Math.min(...ages)) : 'hour';
}

function shortestRangeFor(ageMs: number): RangeName {
  return rangeNames.find((name) => ranges[name].spanMs >= ageMs) ?? 'quarter';
}

/** The start of each step and the end of the last one. */
export function edgesOf(grid: TimeGrid): number[] {
  const steps = calendarOf(grid.zone).stepsOf(grid.stepMs, grid);
  return [...steps.map(({ startMs }) => startMs), steps.at(-1)?.endMs ?? grid.sinceMs + grid.stepMs];
}
