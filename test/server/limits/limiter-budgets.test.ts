import { describe, expect, test } from 'vitest';
import { hourMs } from '../../../server/contract/units.ts';
import {
  budget,
  dayMs,
  exactly,
  fakeLimiter,
  limited,
  liveInBerlin,
  none,
  passes,
  refusalOf,
  spend,
} from './fake-limiter.ts';

liveInBerlin();

test('requests of unknown cost are reported beside a budget in money, over a restart and until the next period', () => {
  const fake = fakeLimiter();
  const subject = limited({
    budgets: [
      { unit: 'usd', amount: 5, per: 'day' },
      { unit: 'tokens', amount: 100, per: 'day' },
    ],
  });
  const unpriced = () => fake.limiter.meters(subject).map((meter) => [meter.used, meter.unpriced]);
  fake.limiter.admit('unknown', [subject], exactly(none));
  fake.finish('unknown', { usd: 0, tokens: 10 }, { costUsd: null });
  expect(passes(fake, subject)).toBe(true);
  const told = [
    [0.01, 1],
    [20, 0],
  ];
  expect(unpriced()).toEqual(told);
  fake.restart();
  expect(unpriced()).toEqual(told);
  fake.pass(dayMs);
  expect(unpriced()).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

describe('a budget of a day', () => {
  test('opens again at local midnight, not before', () => {
    const fake = fakeLimiter(Date.parse('2026-11-20T12:00:00Z'));
    const subject = budget(0.03, 'day');
    expect(spend(fake, subject, 10)).toBe(3);
    fake.pass(11 * hourMs - 1);
    expect(passes(fake, subject)).toBe(false);
    fake.pass(1);
    expect(spend(fake, subject, 10)).toBe(3);
  });

  test('lasts 25 hours where the clock is put back, and is opened once', () => {
    const fake = fakeLimiter(Date.parse('2026-10-24T22:00:00Z'));
    const subject = budget(0.01, 'day');
    let opened = 0;
    for (let hour = 0; hour < 25; hour++) {
      if (passes(fake, subject)) opened++;
      fake.pass(hourMs);
    }
    expect(opened).toBe(1);
    expect(passes(fake, subject)).toBe(true);
  });

  test('is not opened by a clock that is set back by a day, and not shut by one that was ahead', () => {
    const fake = fakeLimiter();
    const subject = budget(0.02, 'day');
    expect(spend(fake, subject, 5)).toBe(2);
    fake.clock.wallMs -= dayMs;
    expect(spend(fake, subject, 5)).toBe(0);
    fake.clock.wallMs += dayMs;
    expect(spend(fake, subject, 5)).toBe(0);
    fake.clock.wallMs += 365 * dayMs;
    expect(spend(fake, subject, 5)).toBe(2);
    fake.clock.wallMs -= 365 * dayMs;
    expect(spend(fake, subject, 5)).toBe(0);
    fake.pass(dayMs);
    expect(spend(fake, subject, 5)).toBe(2);
  });

  test('counts a request for the day that it began in', () => {
    const fake = fakeLimiter(Date.parse('2026-11-20T22:59:59Z'));
    const subject = budget(0.02, 'day');
    fake.limiter.admit('long', [subject], exactly(none));
    const startedAt = fake.clock.wallMs;
    fake.pass(hourMs);
    expect(passes(fake, subject)).toBe(true);
    fake.finish('long', { usd: 5, tokens: 0 }, { startedAt });
    expect(passes(fake, subject)).toBe(true);
    expect(passes(fake, subject)).toBe(false);
  });

  test('is kept over a restart', () => {
    const fake = fakeLimiter();
    const subject = budget(0.02, 'day');
    expect(spend(fake, subject, 5)).toBe(2);
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(0);
  });

  test('goes on with the kept sum while the ledger cannot be read, and is right again after', () => {
    const fake = fakeLimiter();
    const subject = budget(0.05, 'day');
    expect(spend(fake, subject, 3)).toBe(3);
    fake.state.isBroken = true;
    fake.restart();
    expect(spend(fake, subject, 1)).toBe(1);
    fake.state.isBroken = false;
    fake.pass(5_000);
    expect(spend(fake, subject, 5)).toBe(1);
  });

  test('opens neither where the ledger is lost nor where the kept sum is', () => {
    const fake = fakeLimiter();
    const subject = budget(0.02, 'day');
    expect(spend(fake, subject, 5)).toBe(2);
    fake.loseLedger();
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(0);

    const other = fakeLimiter();
    expect(spend(other, subject, 5)).toBe(2);
    other.loseSums();
    other.restart();
    expect(spend(other, subject, 5)).toBe(0);
    other.loseLedger();
    other.restart();
    expect(spend(other, subject, 5)).toBe(0);
  });

  test('of a week, which the ledger keeps no longer than a day, is kept', () => {
    const fake = fakeLimiter(Date.parse('2026-11-16T12:00:00Z'));
    const subject = budget(0.02, 'week');
    expect(spend(fake, subject, 5)).toBe(2);
    fake.pass(2 * dayMs);
    fake.loseLedger();
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(0);
    fake.pass(5 * dayMs);
    expect(spend(fake, subject, 5)).toBe(2);
  });

  test('blocks everything while neither ledger nor stored sum can be read, if it is hard', () => {
    const fake = fakeLimiter();
    const subject = budget(0.02, 'day');
    expect(spend(fake, subject, 5)).toBe(2);
    Object.assign(fake.state, { isBroken: true, sumsAreBroken: true });
    fake.restart();
    expect(refusalOf(fake, [subject])).toMatchObject({ code: 'storage_unavailable' });
    expect(passes(fake, budget(0.02, 'day', { hard: false }))).toBe(true);
    fake.state.sumsAreBroken = false;
    fake.pass(5_000);
    expect(refusalOf(fake, [subject])).toMatchObject({ code: 'budget_spent' });
  });

  test('that was kept is not overwritten by a part of it where it could not be read for a moment', () => {
    const fake = fakeLimiter();
    const subject = budget(0.095, 'day');
    expect(spend(fake, subject, 9)).toBe(9);
    fake.loseLedger();
    fake.state.sumsAreBroken = true;
    fake.restart();
    expect(passes(fake, subject)).toBe(true);
    fake.state.sumsAreBroken = false;
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(1);
  });

  test('is not opened by a clock that is set back over one restart or two, and not shut by one that was ahead', () => {
    const fake = fakeLimiter();
    const subject = budget(0.02, 'day');
    expect(spend(fake, subject, 5)).toBe(2);
    for (let starts = 0; starts < 3; starts++) {
      if (starts === 0) fake.clock.wallMs -= dayMs;
      fake.restart();
      expect(spend(fake, subject, 5)).toBe(0);
    }
    fake.clock.wallMs += dayMs;
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(0);
    fake.clock.wallMs += 365 * dayMs;
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(2);
    fake.clock.wallMs -= 365 * dayMs;
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(0);
    fake.pass(dayMs);
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(2);
  });
});
