import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  calendarOf,
  isTimeZone,
  localCalendar,
  type Period,
  wholeQuarters,
} from '../../../server/contract/calendar.ts';
import type { Budget } from '../../../server/contract/limit-settings.ts';
import { dayMs, hourMs, minuteMs, quarterMs } from '../../../server/contract/units.ts';

const zone = process.env.TZ;

afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const periodOf = (per: Budget['per'], atMs: number) => localCalendar().periodOf(per, atMs);
const hours = ({ startMs, endMs }: { startMs: number; endMs: number }) => (endMs - startMs) / 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

describe('in Berlin', () => {
  beforeEach(() => {
    process.env.TZ = 'Europe/Berlin';
  });

  test('a day begins at local midnight', () => {
    const { startMs, endMs } = periodOf('day', Date.parse('2026-11-20T23:30:00Z'));
    expect([iso(startMs), iso(endMs)]).toEqual(['2026-11-20T23:00:00.000Z', '2026-11-21T23:00:00.000Z']);
  });

  test('a day of the change to summer time has 23 hours, and the one back has 25', () => {
    expect(hours(periodOf('day', Date.parse('2026-03-29T12:00:00Z')))).toBe(23);
    expect(hours(periodOf('day', Date.parse('2026-10-25T12:00:00Z')))).toBe(25);
    // Both hours with the same name belong to that day.
    expect(periodOf('day', Date.parse('2026-10-25T00:30:00Z'))).toEqual(
      periodOf('day', Date.parse('2026-10-25T01:30:00Z')),
    );
  });

  test('a week begins on Monday, also seen from Sunday, and a change of time in it moves nothing', () => {
    const monday = iso(periodOf('week', Date.parse('2026-10-21T10:00:00Z')).startMs);
    expect(monday).toBe('2026-10-18T22:00:00.000Z');
    const { startMs, endMs } = periodOf('week', Date.parse('2026-10-25T20:00:00Z'));
    expect([iso(startMs), iso(endMs)]).toEqual([monday, '2026-10-25T23:00:00.000Z']);
  });

  test('a month is that of the calendar, over a new year too', () => {
    const { startMs, endMs } = periodOf('month', Date.parse('2026-12-31T12:00:00Z'));
    expect([iso(startMs), iso(endMs)]).toEqual(['2026-11-30T23:00:00.000Z', '2026-12-31T23:00:00.000Z']);
  });

  test('in total has neither beginning nor end', () => {
    expect(periodOf('total', 0)).toEqual({ startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY });
  });
});

describe('elsewhere', () => {
  test.each(['Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham', 'Pacific/Kiritimati', 'America/Santiago', 'UTC'])(
    '%s has no gap and no overlap between its days, and each begins at a quarter of an hour',
    (name) => {
      process.env.TZ = name;
      let { endMs } = periodOf('day', Date.parse('2026-01-01T12:00:00Z'));
      const wrong: Period[] = [];
      for (let day = 0; day < 400; day++) {
        const next = periodOf('day', endMs);
        expect(next.startMs).toBe(endMs);
        expect(next.startMs % 900_000).toBe(0);
        expect(hours(next)).toBeGreaterThanOrEqual(23);
        expect(hours(next)).toBeLessThanOrEqual(25);
        ({ endMs } = next);
      }
      expect(wrong).toEqual([]);
    },
  );
});

/** Zones whose clocks differ from others in one way each. */
const zones = [
  ['Europe/Berlin', 2026],
  ['Asia/Kathmandu', 2026],
  ['Australia/Lord_Howe', 2026],
  ['Pacific/Apia', 2011],
  ['Pacific/Kiritimati', 1994],
  ['Pacific/Pago_Pago', 2026],
  ['America/Sao_Paulo', 2018],
  ['America/St_Johns', 2006],
  ['Asia/Beirut', 2022],
  ['Africa/Casablanca', 2026],
  ['America/Havana', 2026],
  ['Antarctica/Troll', 2026],
  ['UTC', 2026],
] as const;

test.each(zones)('%s: every quarter of an hour of %i is in the day that its clock shows', (zone, year) => {
  const calendar = calendarOf(zone);
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  const others: string[] = [];
  for (let atMs = Date.UTC(year, 0, 1); atMs < Date.UTC(year + 1, 0, 3); atMs += quarterMs) {
    const { startMs, endMs } = calendar.periodOf('day', atMs);
    const isWithin = startMs <= atMs && atMs < endMs;
    if (!isWithin || calendar.dateOf(atMs) !== clock.format(atMs)) others.push(clock.format(atMs));
  }
  // St. John's put its clock back at 00:01: the hour that shows the day before again belongs to the day that had begun.
  expect(others).toEqual(zone === 'America/St_Johns' ? Array.from({ length: 3 }, () => '2006-10-28') : []);
});

test.each(zones)(
  '%s: steps of any length follow each other without a gap over %i, and none spans midnight',
  (zone, year) => {
    const calendar = calendarOf(zone);
    for (const stepMs of [quarterMs, hourMs, 4 * hourMs, 7 * minuteMs, dayMs, 7 * dayMs]) {
      const range = { sinceMs: Date.UTC(year, 9, 1, 3), untilMs: Date.UTC(year, 10, 10, 3) };
      const steps = calendar.stepsOf(stepMs, range);
      expect(steps[0]?.startMs).toBeLessThanOrEqual(range.sinceMs);
      expect(steps.at(-1)?.endMs).toBeGreaterThanOrEqual(range.untilMs);
      const isRight = ({ startMs, endMs }: Period, index: number) =>
        endMs === (steps[index + 1]?.startMs ?? endMs) &&
        calendar.stepOf(stepMs, endMs - 1).startMs === startMs &&
        endMs - startMs <= (stepMs > dayMs ? stepMs + dayMs : Math.max(stepMs, 25 * hourMs)) &&
        (stepMs > dayMs || calendar.dateOf(endMs - 1) === calendar.dateOf(startMs));
      expect(steps.filter((step, index) => !isRight(step, index))).toEqual([]);
    }
  },
);

test('Samoa had no 30 December 2011, and its month had 30 days', () => {
  const samoa = calendarOf('Pacific/Apia');
  const { startMs, endMs } = samoa.periodOf('day', Date.parse('2011-12-29T20:00:00Z'));
  expect([samoa.dateOf(startMs), samoa.dateOf(endMs)]).toEqual(['2011-12-29', '2011-12-31']);
  expect(hours({ startMs, endMs })).toBe(24);
  expect(hours(samoa.periodOf('month', startMs)) / 24).toBe(30);
});

test('on Lord Howe Island a day of the change has half an hour more or less', () => {
  const lordHowe = calendarOf('Australia/Lord_Howe');
  expect(hours(lordHowe.periodOf('day', Date.parse('2026-04-05T00:00:00Z')))).toBe(24.5);
  expect(hours(lordHowe.periodOf('day', Date.parse('2026-10-04T00:00:00Z')))).toBe(23.5);
});

test('times that no calendar reaches are in some day', () => {
  for (const atMs of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0, Date.UTC(9999, 11, 31)]) {
    const { startMs, endMs } = calendarOf('Europe/Berlin').periodOf('day', atMs);
    expect(endMs).toBeGreaterThan(startMs);
  }
});

test.each(['Europe/Berlin', 'UTC', 'Asia/Kolkata'])('%s is the name of a zone', (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(['', '+05:30', 'Europe', 'Mars/Olympus', '2026', 'x\u0000'])('%j is not', (name) => {
  expect(isTimeZone(name)).toBe(false);
});

test('a range of usage is rounded outward', () => {
  expect(wholeQuarters({ sinceMs: quarterMs + 1, untilMs: 2 * quarterMs + 1 })).toEqual({
    sinceMs: quarterMs,
    untilMs: 3 * quarterMs,
  });
  expect(wholeQuarters({})).toEqual({});
});
