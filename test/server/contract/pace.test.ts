import { describe, expect, test } from 'vitest';
import { localCalendar } from '../../../server/contract/calendar.ts';
import { forecastMonth, monthSoFar, paceOf } from '../../../server/contract/limits.ts';

const day = 86_400_000;
const week = { startMs: 0, endMs: 7 * day };

describe('the pace of a budget', () => {
  test.each([
    ['twice as fast as it may', { used: 4, nowMs: 2 * day }, { expected: 14, spentAt: 5 * day }],
    ['slow enough', { used: 2, nowMs: 2 * day }, { expected: 7, spentAt: null }],
    ['to the last cent at the end', { used: 5, nowMs: 3.5 * day }, { expected: 10, spentAt: null }],
    ['spent already', { used: 12, nowMs: 3.5 * day }, { expected: 24, spentAt: null }],
    ['unused', { used: 0, nowMs: 2 * day }, null],
    ['too young to tell', { used: 9, nowMs: day / 10 }, null],
    ['without an end', { used: 9, nowMs: 2 * day, endMs: Number.POSITIVE_INFINITY }, null],
    [
      'of a key that was made on the second day',
      { used: 4, startMs: day, nowMs: 2 * day },
      { expected: 24, spentAt: 3.5 * day },
    ],
  ])('that is %s', (_, given, pace) => {
    expect(paceOf({ amount: 10, ...week, ...given })).toEqual(pace);
  });
});

describe('the forecast of a month', () => {
  const { startMs, endMs } = localCalendar().periodOf('month', Date.UTC(2026, 10, 15));
  const nowMs = (startMs + endMs) / 2;

  test('goes on from the first day with requests', () => {
    const forecast = forecastMonth(
      [
        { name: '2026-11-01', costUsd: 3 },
        { name: '2026-11-04', costUsd: null },
      ],
      nowMs,
    );
    expect(forecast?.costUsd).toBe(3);
    expect(forecast?.expectedUsd).toBeCloseTo(6);
    const later = forecastMonth([{ name: '2026-11-11', costUsd: 5 }], nowMs);
    expect(later?.expectedUsd).toBeCloseTo(20);
    expect(monthSoFar(nowMs)).toEqual({ sinceMs: startMs, untilMs: nowMs + 1 });
  });

  test.each([0.000_27, 1.000_000_4, 1_234_567.89])('is never below the %d spent', (costUsd) => {
    const name = '2026-11-01';
    expect(forecastMonth([{ name, costUsd }], endMs - 1)?.expectedUsd).toBeGreaterThanOrEqual(costUsd);
  });

  test('is none where nothing is known to have cost anything', () => {
    expect(forecastMonth([], nowMs)).toBeNull();
    expect(forecastMonth([{ name: '2026-11-01', costUsd: null }], nowMs)).toBeNull();
  });
});
