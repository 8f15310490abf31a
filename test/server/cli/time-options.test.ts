import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseExpiry, parsePastTime } from '../../../server/cli/time-options.ts';

/** A Wednesday. */
const now = new Date(2026, 10, 25, 15, 30);
beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const local = (time: number) => new Date(time).toLocaleString('sv').slice(0, 16);

test.each([
  ['today', '2026-11-25 00:00'],
  ['yesterday', '2026-11-24 00:00'],
  ['monday', '2026-11-23 00:00'],
  ['last monday', '2026-11-23 00:00'],
  ['Last Wed', '2026-11-18 00:00'],
  ['last thursday', '2026-11-19 00:00'],
  ['this week', '2026-11-23 00:00'],
  ['last week', '2026-11-16 00:00'],
  ['this month', '2026-11-01 00:00'],
  ['last month', '2026-10-01 00:00'],
  ['this year', '2026-01-01 00:00'],
  ['90m', '2026-11-25 14:00'],
  ['2 hours ago', '2026-11-25 13:30'],
  ['3 days ago', '2026-11-22 15:30'],
  ['2 weeks', '2026-11-11 15:30'],
  ['2026-11-20', '2026-11-20 00:00'],
])('--since "%s" is %s', (words, time) => {
  expect(local(parsePastTime(words))).toBe(time);
});

test.each([
  ['tomorrow', '2026-11-26 00:00'],
  ['monday', '2026-11-30 00:00'],
  ['next wednesday', '2026-12-02 00:00'],
  ['30d', '2026-12-25 15:30'],
])('--expires "%s" is %s', (words, time) => {
  expect(local(Number(parseExpiry(words)))).toBe(time);
});

test.each(['yesterdy', 'last', 'last moonday', '5 months', 'soon', 'next week', '-1d', ''])(
  '"%s" is no time',
  (words) => {
    expect(() => parsePastTime(words)).toThrow('a day (yesterday, "last monday")');
  },
);
