import type { HeaderFields } from './headers.ts';

/** Reads `retry-after-ms`, else `retry-after` (seconds or a date). Returns milliseconds; null if neither is valid. */
export function readRetryAfter(headers: HeaderFields, nowMs = Date.now()): number | null {
  // `Number('')` would be 0.
  const milliseconds = Number(headers['retry-after-ms'] || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const told = headers['retry-after'];
  if (typeof told !== 'string' || told.trim() === '') return null;
  const seconds = Number(told);
  if (seconds >= 0) return seconds * 1000;
  const moment = Date.parse(told);
  return Number.isNaN(moment) ? null : Math.max(0, moment - nowMs);
}
