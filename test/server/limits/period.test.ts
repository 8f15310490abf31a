import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { periodOf } from '../../../server/limits/period.ts';

const zone = process.env.TZ;

afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

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
      for (let day = 0; day < 400; day++) {
        const next = periodOf('day', endMs);
        expect(next.startMs).toBe(endMs);
        expect(next.startMs % 900_000).toBe(0);
        expect(hours(next)).toBeGreaterThanOrEqual(23);
        expect(hours(next)).toBeLessThanOrEqual(25);
        ({ endMs } = next);
      }
    },
  );
});
