import type { HeaderFields } from '../headers.ts';

/** Reads `retry-after-ms`, else `retry-after` (seconds or a date). Returns milliseconds; null if neither is valid. */
export function readRetryAfter(headers: HeaderFields, nowMs = Date.now()): number | null {
  // `Number('')` would be 0.
  const milliseconds = Number(headers['retry-after-ms'] || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const header = headers['retry-after'];
  if (typeof header !== 'string' || header.trim() === '') return null;
  const seconds = Number(header);
  if (seconds >= 0) return seconds * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}
