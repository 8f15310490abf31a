/** The time that the overview looks back over, and the steps that it is told in. Moments are Unix milliseconds. */
import type { Messages } from '../../messages/en.ts';

export type RangeName = keyof Messages['overview']['ranges'];

export interface TimeGrid {
  sinceMs: number;
  untilMs: number;
  stepMs: number;
  utcOffsetMinutes: number;
}

const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const ranges: Record<RangeName, { spanMs: number; stepMs: number }> = {
  hour: { spanMs: hourMs, stepMs: minuteMs },
  sixHours: { spanMs: 6 * hourMs, stepMs: quarterMs },
  day: { spanMs: dayMs, stepMs: 2 * quarterMs },
  week: { spanMs: 7 * dayMs, stepMs: 4 * hourMs },
  month: { spanMs: 30 * dayMs, stepMs: dayMs },
  quarter: { spanMs: 90 * dayMs, stepMs: dayMs },
};

export const rangeNames = Object.keys(ranges) as RangeName[];

/** Begins with a quarter of an hour, as the engine's sums do, so that all figures are of the same time. */
export function gridOf(range: RangeName, nowMs: number): TimeGrid {
  const { spanMs, stepMs } = ranges[range];
  const sinceMs = Math.floor((nowMs - spanMs) / quarterMs) * quarterMs;
  return { sinceMs, untilMs: nowMs + 1, stepMs, utcOffsetMinutes: -new Date(nowMs).getTimezoneOffset() };
}

/** Where each step begins, also those in which nothing happened. */
export function stepsOf({ sinceMs, untilMs, stepMs, utcOffsetMinutes }: TimeGrid): number[] {
  const offsetMs = utcOffsetMinutes * minuteMs;
  const first = Math.floor((sinceMs + offsetMs) / stepMs) * stepMs - offsetMs;
  return Array.from({ length: Math.ceil((untilMs - first) / stepMs) }, (_, index) => first + index * stepMs);
}

/** The shortest range that holds everything, if it is all of the last 24 hours; else 24 hours, or what reaches the newest of it. */
export function fittingRange(startsMs: readonly number[], nowMs: number): RangeName {
  const ages = startsMs.map((startMs) => nowMs - startMs);
  const ofLastDay = ages.filter((ageMs) => ageMs < dayMs);
  // A step may have begun before its first request did.
  if (ofLastDay.length > 0) return rangeReaching(Math.max(...ofLastDay) - quarterMs);
  return ages.length > 0 ? rangeReaching(Math.min(...ages)) : 'hour';
}

function rangeReaching(ageMs: number): RangeName {
  return rangeNames.find((name) => ranges[name].spanMs >= ageMs) ?? 'quarter';
}

/** Where the steps begin, and where the last one ends. */
export function edgesOf(grid: TimeGrid): number[] {
  const starts = stepsOf(grid);
  return [...starts, (starts.at(-1) ?? grid.sinceMs) + grid.stepMs];
}
