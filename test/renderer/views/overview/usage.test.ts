import { describe, expect, it } from 'vitest';
import {
  chartRows,
  errorRates,
  leadersOf,
  lineRows,
  sumOf,
} from '../../../../renderer/views/overview/usage-figures.ts';
import { gridOf, rangeNames, stepsOf } from '../../../../renderer/views/overview/usage-range.ts';
import type { UsageStepView } from '../../../../server/contract/request-views.ts';

const hour = 3_600_000;

describe('the time that the overview looks back over', () => {
  it.each(rangeNames)('%s has between 40 and 100 steps that cover it, or one a day', (range) => {
    const grid = gridOf(range, Date.UTC(2026, 10, 20, 12, 7, 3));
    const steps = stepsOf(grid);
    expect(steps.length).toBeGreaterThan(28);
    expect(steps.length).toBeLessThan(100);
    expect(steps[0]).toBeLessThanOrEqual(grid.sinceMs);
    expect((steps.at(-1) ?? 0) + grid.stepMs).toBeGreaterThanOrEqual(grid.untilMs);
  });

  it('has days that begin at local midnight', () => {
    const sinceMs = Date.UTC(2026, 10, 18, 20);
    const grid = { sinceMs, untilMs: sinceMs + 24 * hour, stepMs: 24 * hour, utcOffsetMinutes: 330 };
    expect(stepsOf(grid)).toEqual([Date.UTC(2026, 10, 18, 18, 30), Date.UTC(2026, 10, 19, 18, 30)]);
  });
});

describe('the rows of the chart', () => {
  const named = [step(0, 'a', 3), step(0, 'b', 2), step(hour, 'a', 1)];
  const total = [step(0, null, 7), step(hour, null, 1)];

  it('tell the leaders apart and leave the rest to the others', () => {
    expect(chartRows({ steps: [0, hour, 2 * hour], names: ['a', 'b'], metric: 'requests', named, total })).toEqual([
      { startMs: 0, s0: 3, s1: 2, others: 2 },
      { startMs: hour, s0: 1, s1: 0, others: 0 },
      { startMs: 2 * hour, s0: 0, s1: 0, others: 0 },
    ]);
  });

  it('never leave less than nothing to the others', () => {
    const [row] = chartRows({ steps: [0], names: ['a'], metric: 'requests', named, total: [step(0, null, 2)] });
    expect(row?.others).toBe(0);
  });
});

it('the error rate is a share of the requests of its step, and unknown where there were none', () => {
  const rates = errorRates([{ ...step(0, 'a', 4), errors: 1 }, step(hour, 'a', 2), step(2 * hour, 'a', 0)]);
  expect(lineRows([0, hour, 2 * hour, 3 * hour], [rates, new Map([[hour, 7]])])).toEqual([
    { startMs: 0, s0: 0.25, s1: null },
    { startMs: hour, s0: 0, s1: 7 },
    { startMs: 2 * hour, s0: null, s1: null },
    { startMs: 3 * hour, s0: null, s1: null },
  ]);
});

it('the leaders of a metric are those with the most of it, and none without any', () => {
  const all = [step(0, 'few', 1), { ...step(0, 'dear', 0), costUsd: 2 }, step(0, 'many', 5)];
  expect(leadersOf(all, 'requests', 5).map(({ name }) => name)).toEqual(['many', 'few']);
  expect(leadersOf(all, 'cost', 5).map(({ name }) => name)).toEqual(['dear']);
  expect(sumOf(all)).toMatchObject({ requests: 6, costUsd: 2 });
});

it('a cost that nobody knows is not told as none', () => {
  const unpriced = { ...step(0, null, 2), costUsd: null, unpricedRequests: 2 };
  expect(sumOf([unpriced])).toMatchObject({ costUsd: null, unpricedRequests: 2 });
  expect(sumOf([unpriced, { ...step(hour, null, 1), costUsd: 2 }])).toMatchObject({ costUsd: 2, unpricedRequests: 2 });
  expect(sumOf([])).toMatchObject({ costUsd: 0 });
});

function step(startMs: number, name: string | null, requests: number): UsageStepView {
  return {
    startMs,
    name,
    requests,
    errors: 0,
    refused: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    unpricedRequests: 0,
  };
}
