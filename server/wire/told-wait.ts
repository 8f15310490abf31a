import type { HeaderFields } from './headers.ts';

/** Reads `retry-after-ms`, else `retry-after` (seconds or a date). Returns milliseconds; null if neither is valid. */
export function toldWait(headers: HeaderFields, nowMs = Date.now()): number | null {
  const milliseconds = numberIn(headers['retry-after-ms']);
  if (milliseconds >= 0) return milliseconds;
  const told = headers['retry-after'];
  const seconds = numberIn(told);
  if (seconds >= 0) return seconds * 1000;
  const moment = typeof told === 'string' ? Date.parse(told) : Number.NaN;
  return Number.isNaN(moment) ? null : Math.max(0, moment - nowMs);
}

/** NaN if there is none. `Number('')` would be 0. */
function numberIn(header: string | string[] | undefined): number {
  return typeof header === 'string' && header.trim() !== '' ? Number(header) : Number.NaN;
}
