/**
 * Days, weeks and months of a time zone: the only place that knows when they begin. Budgets, usage, the command line, exports
 * and the window ask it, so that a day is the same everywhere. Pure, but for what is remembered of each zone.
 *
 * All spans follow each other without a gap: the day of a change of the clock has 23 or 25 hours (23.5 on Lord Howe Island),
 * and one that a country left out (30 December 2011 on Samoa) is no span at all.
 */
import type { Budget } from './limit-settings.ts';
import { dayMs, hourMs, minuteMs, quarterMs } from './units.ts';

/** Unix milliseconds; `endMs` is exclusive. Infinite at an end that does not exist. */
export interface Period {
  startMs: number;
  endMs: number;
}

const always: Period = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** Clocks are at most 14 hours ahead of UTC and 12 behind. */
const mostOffsetMs = 16 * hourMs;
/** A year and a half, so that a list of days of the year needs each offset once. */
const rememberedDays = 550;
/** What `Date` can hold, less a few days for the arithmetic. */
const latestMs = 8.64e15 - 40 * dayMs;

/** The IANA name of the zone of this process or browser. */
export function localZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** The calendar of this process or browser, in which budgets count. */
export const localCalendar = (): Calendar => calendarOf(localZone());

/** Whether it is the IANA name of a zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Z]/i.test(name) && new Intl.DateTimeFormat('en-US', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

const calendars = new Map<string, Calendar>();
/** Each remembers half a megabyte at most, and clients name zones. */
const rememberedZones = 16;

/** @param zone an IANA name */
export function calendarOf(zone: string): Calendar {
  let calendar = calendars.get(zone);
  if (calendar === undefined) {
    if (calendars.size >= rememberedZones) calendars.clear();
    calendar = new Calendar(zone);
    calendars.set(zone, calendar);
  }
  return calendar;
}

/** A time from which the zone's clock has this distance from UTC. */
interface Offset {
  startMs: number;
  offsetMs: number;
}

class Calendar {
  readonly #format: Intl.DateTimeFormat;
  /** By day of UTC, since 1970: the offset at its beginning, and those that begin in it. */
  readonly #offsets = new Map<number, readonly Offset[]>();
  /** The day that was asked for last: lists of times are in order. */
  #day: Period = { startMs: 0, endMs: 0 };

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  }

  /** The day, week (from Monday) or month of a time. */
  periodOf(per: Budget['per'], atMs: number): Period {
    if (per === 'total') return always;
    const { startMs } = this.#dayOf(atMs);
    if (per === 'day') return this.#dayOf(atMs);
    const date = new Date(startMs + this.#offsetAt(startMs));
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
    const monday = day - ((date.getUTCDay() + 6) % 7);
    const [first, end] = per === 'week' ? [monday, monday + 7] : [1, null];
    return {
      startMs: this.#firstAt(Date.UTC(year, month, first)),
      endMs: this.#firstAt(end === null ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, end)),
    };
  }

  /** The day of a time, as `2026-11-20`. */
  dateOf(atMs: number): string {
    const { startMs } = this.#dayOf(atMs);
    return new Date(startMs + this.#offsetAt(startMs)).toISOString().slice(0, 10);
  }

  /**
   * The step of a time. Steps of less than a day begin at local midnight, and the last one ends with the day; longer ones
   * begin at a local midnight too. `Infinity`: one for all.
   */
  stepOf(stepMs: number, atMs: number): Period {
    if (stepMs === Number.POSITIVE_INFINITY) return always;
    if (stepMs > dayMs) return this.#spanOf(Math.ceil(stepMs / dayMs) * dayMs, atMs);
    const day = this.#dayOf(atMs);
    const startMs = day.startMs + Math.floor((inRange(atMs) - day.startMs) / stepMs) * stepMs;
    return { startMs, endMs: Math.min(startMs + stepMs, day.endMs) };
  }

  /** All steps that overlap a range. */
  stepsOf(stepMs: number, { sinceMs, untilMs }: { sinceMs: number; untilMs: number }): Period[] {
    const steps: Period[] = [];
    for (let atMs = sinceMs; atMs < untilMs && atMs < latestMs; ) {
      const step = this.stepOf(stepMs, atMs);
      steps.push(step);
      atMs = step.endMs;
    }
    return steps;
  }

  #dayOf(atMs: number): Period {
    if (atMs < this.#day.startMs || atMs >= this.#day.endMs) this.#day = this.#spanOf(dayMs, atMs);
    return this.#day;
  }

  /** The span of `lengthMs` by the zone's clock, counted from 1970. */
  #spanOf(lengthMs: number, givenMs: number): Period {
    const atMs = inRange(givenMs);
    let index = Math.floor((atMs + this.#offsetAt(atMs)) / lengthMs);
    // A clock that was put back over midnight shows the earlier day again.
    while (this.#firstAt((index + 1) * lengthMs) <= atMs) index += 1;
    return { startMs: this.#firstAt(index * lengthMs), endMs: this.#firstAt((index + 1) * lengthMs) };
  }

  /** When the zone's clock first shows this time or a later one; `clockMs` as if it were UTC. */
  #firstAt(clockMs: number): number {
    const firstDay = Math.floor((clockMs - mostOffsetMs) / dayMs);
    for (let day = firstDay; ; day++) {
      const offsets = this.#offsetsOf(day);
      for (const [place, { startMs, offsetMs }] of offsets.entries()) {
        const atMs = Math.max(startMs, clockMs - offsetMs);
        if (atMs < (offsets[place + 1]?.startMs ?? (day + 1) * dayMs)) return atMs;
      }
    }
  }

  #offsetAt(atMs: number): number {
    const offsets = this.#offsetsOf(Math.floor(atMs / dayMs));
    return offsets.findLast(({ startMs }) => startMs <= atMs)?.offsetMs ?? 0;
  }

  #offsetsOf(day: number): readonly Offset[] {
    let offsets = this.#offsets.get(day);
    if (offsets === undefined) {
      if (this.#offsets.size >= rememberedDays) this.#offsets.clear();
      offsets = this.#readOffsets(day);
      this.#offsets.set(day, offsets);
    }
    return offsets;
  }

  /** No zone has changed its clock twice on one day. */
  #readOffsets(day: number): Offset[] {
    const first = { startMs: day * dayMs, offsetMs: this.#readOffset(day * dayMs) };
    let endMs = (day + 1) * dayMs;
    const offsetMs = this.#readOffset(endMs);
    if (offsetMs === first.offsetMs) return [first];
    let startMs = first.startMs;
    while (endMs - startMs > 1_000) {
      const middleMs = startMs + Math.floor((endMs - startMs) / 2_000) * 1_000;
      if (this.#readOffset(middleMs) === offsetMs) endMs = middleMs;
      else startMs = middleMs;
    }
    return [first, { startMs: endMs, offsetMs }];
  }

  #readOffset(atMs: number): number {
    const [, sign, hours, minutes, seconds] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#format.format(atMs)) ?? [];
    if (sign === undefined) return 0;
    const offsetMs = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds ?? 0) * 1_000;
    return sign === '-' ? -offsetMs : offsetMs;
  }
}

const inRange = (atMs: number) => Math.min(Math.max(atMs, -latestMs), latestMs);

/**
 * A range of usage as it is counted: rounded outward to quarters of an hour, whoever asks, because sums are kept for those.
 * The days of all zones begin with one.
 */
export function wholeQuarters<Range extends { sinceMs?: number; untilMs?: number }>(range: Range): Range {
  const { sinceMs, untilMs } = range;
  return {
    ...range,
    ...(sinceMs !== undefined && { sinceMs: Math.floor(sinceMs / quarterMs) * quarterMs }),
    ...(untilMs !== undefined && { untilMs: Math.ceil(untilMs / quarterMs) * quarterMs }),
  };
}
