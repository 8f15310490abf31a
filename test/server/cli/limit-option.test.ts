import { expect, test } from 'vitest';
import { collectLimits, limitCells } from '../../../server/cli/limit-option.ts';

test('a budget in money reports for how many requests the cost is unknown', () => {
  const budget = { unit: 'usd', amount: 5, per: 'total', hard: true } as const;
  const meter = { kind: 'budget', budget, amount: 5, used: 0.25, pace: null, resetsAt: null } as const;
  expect(limitCells({ ...meter, unpriced: 2 })[1]).toBe('$0.2500 and 2 of unknown cost');
  expect(limitCells({ ...meter, unpriced: 0 })[1]).toBe('$0.2500');
});

test('a budget tells when it will be spent at its pace, and otherwise what it comes to', () => {
  const budget = { unit: 'tokens', amount: 500, per: 'week', hard: true } as const;
  const meter = { kind: 'budget', budget, amount: 500, used: 100, unpriced: 0, resetsAt: 7 } as const;
  const spentAt = new Date(2026, 10, 26, 14, 0).getTime();
  expect(limitCells({ ...meter, pace: { expected: 700, spentAt } })[3]).toMatch(/^spent by 2026-11-26 14:00/);
  expect(limitCells({ ...meter, pace: { expected: 349.6, spentAt: null } })[3]).toBe('350 tokens');
});

test('the percentages at which a budget is reported are given with it', () => {
  const budget = { unit: 'usd', amount: 20, per: 'week' };
  expect(collectLimits('usd=20/week:notify=50+90')).toEqual({
    budgets: [{ ...budget, hard: true, notifyAt: [50, 90] }],
  });
  expect(collectLimits('usd=20/week:soft:notify=100')).toEqual({
    budgets: [{ ...budget, hard: false, notifyAt: [100] }],
  });
  for (const wrong of [
    'usd=20/week:notify=',
    'usd=20/week:notify=0',
    'usd=20/week:notify=101',
    'requests=5:notify=50',
  ]) {
    expect(() => collectLimits(wrong), wrong).toThrow('Give percentages of a budget');
  }
});
