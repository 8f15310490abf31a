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
  day: { spanMs: dayMs, stepMs: 2 * quarterMs },
  week: { spanMs: 7 * dayMs, stepMs: 4 * hourMs },
  month: { spanMs: 30 * dayMs, stepMs: dayMs },
  quarter: { spanMs: 90 * dayMs, stepMs: dayMs },
};

export const rangeNames = Object.keys(ranges) as RangeName[];

/** How often the overview asks anew. */
export const refreshMs = 15_000;

/** Begins with a quarter of an hour, as the engine's sums do, so that all figures are of the same time. */
export function gridOf(range: RangeName, nowMs: number): TimeGrid {
  const { spanMs, stepMs } = ranges[range];
  const untilMs = Math.ceil(nowMs / refreshMs) * refreshMs;
  const sinceMs = Math.floor((untilMs - spanMs) / quarterMs) * quarterMs;
  return { sinceMs, untilMs, stepMs, utcOffsetMinutes: -new Date(nowMs).getTimezoneOffset() };
}

/** Where each step begins, also those in which nothing happened. */
export function stepsOf({ sinceMs, untilMs, stepMs, utcOffsetMinutes }: TimeGrid): number[] {
  const offsetMs = utcOffsetMinutes * minuteMs;
  const first = Math.floor((sinceMs + offsetMs) / stepMs) * stepMs - offsetMs;
  return Array.from({ length: Math.ceil((untilMs - first) / stepMs) }, (_, index) => first + index * stepMs);
}
