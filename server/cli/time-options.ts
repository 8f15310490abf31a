import { InvalidArgumentError } from 'commander';
import { dayMs, hourMs, minuteMs } from '../contract/units.ts';

const unitMs: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
/** Later years have more than four digits, which dates in the configuration must not have. */
const latestMs = Date.UTC(9999, 11, 31);

/**
 * Parses a date or time (`2026-11-20`, `2026-11-20T08:00Z`), a day (`yesterday`, `last monday`,
 * `this month`), or a span before now (`90m`, `12h`, `30d`, `2 weeks ago`), to Unix milliseconds.
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
  const [, count, unit = ''] = /^(\d+) ?([mhdw])(?:in(?:ute)?s?|ours?|ays?|eeks?)?(?: ago)?$/i.exec(text) ?? [];
  return count ? Number(count) * (unitMs[unit.toLowerCase()] ?? 0) : null;
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The local midnight with which `yesterday`, `last monday` or `this month` begins; null for other words. */
function dayIn(text: string, direction: 1 | -1): number | null {
  const words = text.trim().toLowerCase();
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  const shift = (days: number) => day.setDate(day.getDate() + days);
  const near = ['yesterday', 'today', 'tomorrow'].indexOf(words);
  if (near >= 0) return shift(near - 1);
  const [, which = '', name = ''] = /^(?:(last|next|this) )?(\w+)$/.exec(words) ?? [];
  const weekday = weekdays.findIndex((each) => each === name || each.slice(0, 3) === name);
  if (weekday >= 0) {
    const ahead = (weekday - day.getDay() + 7) % 7;
    // The one before today, or after it, never today itself.
    return shift(direction < 0 ? ahead - 7 : ahead || 7);
  }
  const isLast = which === 'last';
  if (which !== 'last' && which !== 'this') return null;
  if (name === 'week') return shift(-((day.getDay() + 6) % 7) - (isLast ? 7 : 0));
  if (name === 'month') return day.setMonth(day.getMonth() - (isLast ? 1 : 0), 1);
  return name === 'year' ? day.setFullYear(day.getFullYear() - (isLast ? 1 : 0), 0, 1) : null;
}

function parseMoment(text: string, direction: 1 | -1): number {
  const span = spanOf(text);
  if (span !== null) return checkYear(Date.now() + direction * span);
  const day = dayIn(text, direction);
  if (day !== null) return day;
  // A date alone means local midnight; Date.parse would interpret it as UTC.
  const timeMs = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text);
  if (!Number.isNaN(timeMs)) return checkYear(timeMs);
  throw new InvalidArgumentError(
    'Use a date (2026-11-20), a time (2026-11-20T08:00), a day (yesterday, "last monday") or a span (90m, 12h, 30d, 2w).',
  );
}

function checkYear(timeMs: number): number {
  if (timeMs >= 0 && timeMs <= latestMs) return timeMs;
  throw new InvalidArgumentError('Use a time between the years 1970 and 9999.');
}
