import { InvalidArgumentError } from 'commander';
import { dayMs, hourMs, minuteMs } from '../contract/units.ts';

const unitMs: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
/** Later years have more than four digits, which dates in the configuration must not have. */
const latestMs = Date.UTC(9999, 11, 31);

/**
 * Parses a date or time (`2026-11-20`, `2026-11-20T08:00Z`), or a span before now (`90m`, `12h`, `30d`, `2w`), to Unix
 * milliseconds.
 */
export function parsePastTime(text: string): number {
  return parseMoment(text, -1);
}

/** Parses a future date or time, or a span from now (`12h`, `30d`), to Unix milliseconds. */
function parseFuture(text: string): number {
  const timeMs = parseMoment(text, 1);
  if (timeMs > Date.now()) return timeMs;
  throw new InvalidArgumentError('That is in the past.');
}

/** Unix milliseconds. */
export type Expiry = number | 'never';

export const expiryHelp = 'a date, a time span such as 30d, or "never"';

export function parseExpiry(text: string): Expiry {
  return text === 'never' ? 'never' : parseFuture(text);
}

/** Null: never. */
export function expiryDate(expiry: Expiry): string | null {
  return expiry === 'never' ? null : new Date(expiry).toISOString();
}

/** Parses a span (`90m`, `12h`, `7d`, `2w`) to milliseconds. */
export function parseDuration(text: string): number {
  const span = spanOf(text);
  if (span !== null) return span;
  throw new InvalidArgumentError('Use a span (90m, 12h, 7d).');
}

function spanOf(text: string): number | null {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  return count ? Number(count) * (unitMs[unit] ?? 0) : null;
}

function parseMoment(text: string, direction: 1 | -1): number {
  const span = spanOf(text);
  if (span !== null) return checkYear(Date.now() + direction * span);
  // A date alone means local midnight; Date.parse would interpret it as UTC.
  const timeMs = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text);
  if (!Number.isNaN(timeMs)) return checkYear(timeMs);
  throw new InvalidArgumentError('Use a date (2026-11-20), a time (2026-11-20T08:00) or a span (90m, 12h, 30d, 2w).');
}

function checkYear(timeMs: number): number {
  if (timeMs >= 0 && timeMs <= latestMs) return timeMs;
  throw new InvalidArgumentError('Use a time between the years 1970 and 9999.');
}
