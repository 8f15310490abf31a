import type { KnownCost } from '../../server/contract/ledger.ts';
import type { CurrencyView } from '../../server/contract/price-views.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../server/contract/units.ts';
import type { Messages } from './en/en.ts';

/** Stands for what there is not: nothing was spent, measured or named. */
export const nothing = '–';

/** Formats of numbers, dates and gaps in one language. */
export interface Formats {
  number(value: number): string;
  /** `1.2M`, in every language. */
  compact(value: number): string;
  /** `share`: a fraction of one. */
  percent(share: number): string;
  /** An amount of US dollars in the currency that is shown, including small amounts. */
  dollars(value: number): string;
  /** What is known of a cost, in a table or beside its name: `$0.42`, `–` or `unknown`. `mark` stands before an amount. */
  cost(cost: KnownCost, mark?: '≈' | '≥' | ''): string;
  /** US dollars with all digits, as for prices: `$0.0028`. */
  exactDollars(value: number): string;
  /** What a dollar costs: `€0.9226`. */
  rate(code: string, perDollar: number): string;
  /** `512 B`, `1.4 MB`, in every language; a kilobyte has 1,000 bytes. */
  bytes(value: number): string;
  /** `85 ms`, `1.2 s`, `3 min 20 s`. */
  duration(durationMs: number): string;
  /** `12 s ago`. Both arguments are in Unix milliseconds. */
  ago(moment: number, now: number): string;
  /** Time of day, preceded by the date if it is not today. */
  moment(moment: number, now: number): string;
  /** Full date and time. */
  fullMoment(moment: number): string;
  day(moment: number): string;
  /** Hour and minute. */
  clock(moment: number): string;
  dayAndClock(moment: number): string;
  /** `Nov 3, 09:00 – 10:00`, with what differs only. */
  fromTo(start: number, end: number): string;
  /** Date without the year. */
  shortDay(moment: number): string;
  /** `a, b and c`. */
  list(values: readonly string[]): string;
  /** Separator between two sentences, or after a colon; empty in Chinese. */
  readonly gap: string;
}

/** The currency that amounts are shown in, and what a dollar costs in it. */
export interface ShownCurrency {
  code: string;
  perDollar: number;
}

/** Null: in dollars, also because the rate is not known. */
export function shownCurrency(currency: CurrencyView | null): ShownCurrency | null {
  if (!currency || currency.perDollar === null) return null;
  return { code: currency.code, perDollar: currency.perDollar };
}

const usDollars: ShownCurrency = { code: 'USD', perDollar: 1 };

export interface FormatOptions {
  /** The language tag whose conventions dates follow (`en-GB`). Numbers follow the language. */
  region?: string;
  currency?: ShownCurrency | null;
}

type FormatTexts = Pick<Messages, 'now' | 'unknownCost' | 'durationUnits'>;

/** Smaller amounts are not shown exactly. */
const leastDollars = 0.0001;

export function createFormats(
  language: string,
  { now: justNow, unknownCost, durationUnits: units }: FormatTexts,
  { region = language, currency }: FormatOptions = {},
): Formats {
  const number = new Intl.NumberFormat(language);
  // Chinese counts by ten thousands, but token counts and context sizes are known as 128K and 1M there too.
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
  const list = new Intl.ListFormat(region);
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  const shortRelative = new Intl.RelativeTimeFormat(language, { style: 'short', numeric: 'always' });
  // Intl writes 2分钟前; all other texts of the window put a space between digits and Han characters.
  const relative = (value: number, unit: Intl.RelativeTimeFormatUnit) =>
    shortRelative.format(value, unit).replace(/(\d)(?=\p{Script=Han})/u, '$1 ');
  const time = new Intl.DateTimeFormat(region, { timeStyle: 'medium', hourCycle: 'h23' });
  // With the month's name, because the order of day and month differs by region.
  const dayAndTime = new Intl.DateTimeFormat(region, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const full = new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
  const day = new Intl.DateTimeFormat(region, { dateStyle: 'medium' });
  const clock = new Intl.DateTimeFormat(region, { timeStyle: 'short', hourCycle: 'h23' });
  const shortDay = new Intl.DateTimeFormat(region, { month: 'short', day: 'numeric' });
  const money = amountFormat(language, currency ?? usDollars);
  const allDigits = new Intl.NumberFormat(language, { ...inCurrency('USD'), maximumFractionDigits: 12 });
  const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });

  return {
    number: (value) => number.format(value),
    compact: (value) => compact.format(value),
    percent: (share) => percent.format(share),
    dollars: money,
    cost(cost, mark = '') {
      if (cost === 'nothing') return nothing;
      return cost === 'unknown' ? unknownCost : `${mark}${money(cost)}`;
    },
    exactDollars: (value) => allDigits.format(value),
    rate: (code, perDollar) =>
      new Intl.NumberFormat(language, { ...inCurrency(code), maximumFractionDigits: 4 }).format(perDollar),
    bytes(value) {
      if (value < 1_000) return `${whole.format(value)} B`;
      const isMega = value >= 999_950;
      return `${tenths.format(value / (isMega ? 1_000_000 : 1_000))} ${isMega ? 'MB' : 'kB'}`;
    },
    duration(durationMs) {
      // Rounded first, so that a value that rounds up to a whole second or minute is written as one.
      if (Math.round(durationMs) < secondMs) return `${whole.format(durationMs)} ${units.milliseconds}`;
      const wholeSeconds = Math.round(durationMs / secondMs);
      if (wholeSeconds * secondMs < minuteMs) return `${tenths.format(durationMs / secondMs)} ${units.seconds}`;
      const [minutes, seconds] = [Math.floor(wholeSeconds / 60), wholeSeconds % 60];
      return `${whole.format(minutes)} ${units.minutes} ${whole.format(seconds)} ${units.seconds}`;
    },
    ago(moment, now) {
      const age = Math.max(0, now - moment);
      if (age < 5 * secondMs) return justNow;
      if (age < minuteMs) return relative(-Math.floor(age / secondMs), 'second');
      if (age < hourMs) return relative(-Math.floor(age / minuteMs), 'minute');
      if (age < dayMs) return relative(-Math.floor(age / hourMs), 'hour');
      return relative(-Math.floor(age / dayMs), 'day');
    },
    moment: (moment, now) => (isSameDay(moment, now) ? time : dayAndTime).format(moment),
    fullMoment: (moment) => full.format(moment),
    day: (moment) => day.format(moment),
    clock: (moment) => clock.format(moment),
    dayAndClock: (moment) => dayAndTime.format(moment),
    fromTo(start, end) {
      const [from, to] = [dayAndTime.format(start), dayAndTime.format(end)];
      return from === to ? from : `${from} – ${isSameDay(start, end) ? clock.format(end) : to}`;
    },
    shortDay: (moment) => shortDay.format(moment),
    list: (values) => spaced(list.formatToParts(values)),
    gap: language.startsWith('zh') ? '' : ' ',
  };
}

/** Intl writes a和b, too. */
function spaced(parts: readonly { type: 'element' | 'literal'; value: string }[]): string {
  return parts
    .map(({ type, value }, index) => {
      if (type === 'element' || !/^\p{Script=Han}+$/u.test(value)) return value;
      const before = /[\p{Script=Han}\p{P}]$/u.test(parts[index - 1]?.value ?? '') ? '' : ' ';
      const after = /^[\p{Script=Han}\p{P}]/u.test(parts[index + 1]?.value ?? '') ? '' : ' ';
      return `${before}${value}${after}`;
    })
    .join('');
}

const inCurrency = (code: string) =>
  ({ style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' }) as const satisfies Intl.NumberFormatOptions;

/** Most requests cost less than a cent. */
function amountFormat(language: string, { code, perDollar }: ShownCurrency): (dollars: number) => string {
  const cents = new Intl.NumberFormat(language, inCurrency(code));
  const lessThanCents = new Intl.NumberFormat(language, { ...inCurrency(code), maximumSignificantDigits: 2 });
  return (dollars) => {
    const value = dollars * perDollar;
    if (value > 0 && value < leastDollars) return `<${lessThanCents.format(leastDollars)}`;
    return (value === 0 || value >= 0.1 ? cents : lessThanCents).format(value);
  };
}

function isSameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}
