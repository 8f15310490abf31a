/** How long an upstream asks to be left alone, from the headers of its answer. Pure. */

import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { HeaderFields } from '../wire.ts';

/**
 * In milliseconds; null if no header tells. `retry-after-ms` and `Retry-After` (seconds or a date) are for everyone, the headers of
 * limits only where a limit was the reason.
 */
export function toldWaitMs(headers: HeaderFields, isLimited: boolean, nowMs = Date.now()): number | null {
  const milliseconds = longest(headers['retry-after-ms'], numberOf);
  const stated = milliseconds ?? longest(headers['retry-after'], (text) => secondsOrDate(text, nowMs));
  return stated === null && isLimited ? untilReset(headers, nowMs) : stated;
}

/** A header that came twice is a list, which a proxy may have joined: the longest of its values counts. */
function longest(header: string | readonly string[] | undefined, read: (text: string) => number | null): number | null {
  let most: number | null = null;
  for (const value of typeof header === 'string' ? [header] : (header ?? [])) {
    // The comma of a date follows the name of a day, such as `Fri` or `Friday`.
    for (const text of value.slice(0, maxLength).split(/(?<!day|Mon|Tue|Wed|Thu|Fri|Sat|Sun),/, maxValues)) {
      const wait = read(text.trim());
      if (wait !== null) most = Math.max(most ?? 0, wait);
    }
  }
  return most;
}

const maxValues = 16;

/** In characters. */
const maxLength = 1024;

/** Null if it is none, or negative. `Number('')` would be 0. */
export function numberOf(text: string): number | null {
  const number = text === '' ? Number.NaN : Number(text);
  return number >= 0 && number < Number.POSITIVE_INFINITY ? number : null;
}

function secondsOrDate(text: string, nowMs: number): number | null {
  const seconds = numberOf(text);
  if (seconds !== null) return seconds * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}

/**
 * `x-ratelimit-reset-requests: 6m0s` and `-tokens` (OpenAI, Groq and many others), `anthropic-ratelimit-input-tokens-reset` (a date),
 * `x-ratelimit-reset` (OpenRouter: Unix milliseconds; GitHub: Unix seconds), `ratelimit-reset` (seconds, as in the IETF's draft).
 */
const resetName = boundedPattern(/^(?:x-|anthropic-)?ratelimit-(?:[a-z-]{1,40}-)?reset(?:-[a-z-]{1,40})?$/);

/**
 * The latest reset of the limits of which nothing remains. A limit of which something remains is not known to be the reason, and
 * its reset is when it is full again.
 */
function untilReset(headers: HeaderFields, nowMs: number): number | null {
  let latest: number | null = null;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || !resetName.test(name)) continue;
    const remaining = headers[name.replace('reset', 'remaining')];
    if (remaining !== undefined && Number(remaining) !== 0) continue;
    const wait = resetIn(value.trim(), nowMs);
    if (wait !== null) latest = Math.max(latest ?? 0, wait);
  }
  return latest;
}

const duration = boundedPattern(
  /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/,
);
const unitsMs = [86_400_000, 3_600_000, 60_000, 1_000, 1];
/** Numbers from here on are times: Unix seconds, or milliseconds. */
const firstUnixSeconds = 1e9;
const firstUnixMs = 1e12;

/** What is left of it, in milliseconds: a duration, a number of seconds, or a time. Null if it is none. */
export function resetIn(text: string, nowMs: number): number | null {
  const number = numberOf(text);
  if (number !== null) {
    if (number < firstUnixSeconds) return number * 1000;
    return Math.max(0, (number < firstUnixMs ? number * 1000 : number) - nowMs);
  }
  const parts = text === '' ? null : duration.exec(text);
  if (parts) return unitsMs.reduce((sum, unitMs, index) => sum + unitMs * Number(parts[index + 1] ?? 0), 0);
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}
