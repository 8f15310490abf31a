import { describe, expect, it } from 'vitest';
import { createNameColors } from '../../../../renderer/components/usage/name-colors.ts';
import {
  admittedOf,
  amountOf,
  failureRate,
  failureRates,
  labelInterval,
  leadersOf,
  monthText,
  othersOf,
  sumOf,
  ticksUpTo,
  valuesAt,
} from '../../../../renderer/components/usage/usage-figures.ts';
import { defaultRange, gridOf, rangeNames, stepsOf } from '../../../../renderer/components/usage/usage-range.ts';
import { en } from '../../../../renderer/messages/en/en.ts';
import { createFormats } from '../../../../renderer/messages/formats.ts';
import type { LiveRequest } from '../../../../renderer/state/requests/live-request.ts';
import { callersOf, tokensPerSecond } from '../../../../renderer/views/overview/live-figures.ts';
import type { UsageStepView } from '../../../../server/contract/request-views.ts';

const hour = 3_600_000;

describe('the time that the overview looks back over', () => {
  it.each(rangeNames)('%s has between 24 and 100 steps that cover it', (range) => {
    const grid = gridOf(range, Date.UTC(2026, 10, 20, 12, 7, 3));
    const steps = stepsOf(grid);
    expect(steps.length).toBeGreaterThan(23);
    expect(steps.length).toBeLessThan(100);
    expect(steps[0]).toBeLessThanOrEqual(grid.sinceMs);
    expect((steps.at(-1) ?? 0) + grid.stepMs).toBeGreaterThanOrEqual(grid.untilMs);
  });

  it('has days that begin at local midnight', () => {
    const sinceMs = Date.UTC(2026, 10, 18, 20);
    const grid = { sinceMs, untilMs: sinceMs + 24 * hour, stepMs: 24 * hour, zone: 'Asia/Kolkata' };
    expect(stepsOf(grid)).toEqual([Date.UTC(2026, 10, 18, 18, 30), Date.UTC(2026, 10, 19, 18, 30)]);
  });
});

it('the others of a chart are what the named ones leave, and never less than nothing', () => {
  expect(
    othersOf(
      [7, 1, null],
      [
        [3, 1, null],
        [2, null, null],
      ],
    ),
  ).toEqual([2, 0, 0]);
  expect(othersOf([2], [[3]])).toEqual([0]);
  expect(othersOf([0.3], [[0.1], [0.2]])).toEqual([0]);
});

it('the failure rate leaves the callers’ mistakes out, and is unknown where nothing else was asked', () => {
  const mixed = { ...step(0, 'a', 6), failed: 1, refused: 2 };
  const refused = { ...step(hour, 'a', 2), failed: 0, refused: 2 };
  expect(valuesAt([0, hour, 2 * hour], failureRates([mixed, refused]))).toEqual([0.25, null, null]);
  expect([amountOf(mixed, 'errors'), admittedOf(mixed), failureRate(mixed)]).toEqual([1, 4, 0.25]);
});

it('the forecast of a month is as exact as what is spent', () => {
  const localization = { language: 'en', setLanguage() {}, messages: en, formats: createFormats('en', en) } as const;
  expect(monthText({ costUsd: 0.000_27, expectedUsd: 0.000_31 }, localization)).toBe(
    '$0.00027 this month, at this pace $0.00031 by its end',
  );
});

describe('the range that fits', () => {
  const now = Date.UTC(2026, 10, 20, 12);
  const minute = 60_000;
  it.each([
    ['nothing', [], 'hour'],
    ['the last minutes', [now - 20 * minute, now - minute], 'hour'],
    ['three hours', [now - 3 * hour, now], 'sixHours'],
    ['today', [now - 20 * hour, now - hour], 'day'],
    ['more than a day', [now - 5 * 24 * hour, now - 2 * hour], 'sixHours'],
    ['last week', [now - 6 * 24 * hour, now - 5 * 24 * hour], 'week'],
    ['two months ago', [now - 60 * 24 * hour], 'quarter'],
  ] as const)('%s', (_, starts, expected) => {
    expect(defaultRange(starts, now)).toBe(expected);
  });
});

describe('the axis', () => {
  it.each([
    [0, false, [0, 1]],
    [1, true, [0, 1]],
    [3, true, [0, 1, 2, 3]],
    [54, true, [0, 20, 40, 60]],
    [0.3, false, [0, 0.1, 0.2, 0.3]],
  ] as const)('up to %s has round values', (most, isWhole, expected) => {
    const ticks = ticksUpTo(most, isWhole);
    expect(ticks.map((tick) => Number(tick.toFixed(9)))).toEqual(expected);
  });

  it('names no more steps than fit', () => {
    expect(labelInterval(48, 840, 84)).toBe(5);
    expect(labelInterval(1, 40, 84)).toBe(1);
  });
});

describe('a colour', () => {
  it('belongs to its name, whatever was asked for before', () => {
    const colorOf = createNameColors();
    const first = ['gpt-5', 'gpt-5-mini', 'qwen3'].map(colorOf);
    expect(['qwen3', 'gpt-5', 'gpt-5-mini'].map(colorOf)).toEqual([first[2], first[0], first[1]]);
    expect(new Set(first).size).toBe(3);
    expect(createNameColors()('gpt-5')).toBe(first[0]);
  });

  it('is another one for each of ten names', () => {
    const colorOf = createNameColors();
    expect(new Set(Array.from({ length: 10 }, (_, index) => colorOf(`model-${index}`))).size).toBe(10);
  });
});

describe('this moment', () => {
  const at = Date.UTC(2026, 10, 20, 12);
  const request = (changes: object) => ({ ...live, ...changes });

  it('spreads the tokens of a request over the time in which they came', () => {
    const whole = request({
      startedAt: at - 12_000,
      firstByteMs: 2_000,
      totalMs: 10_000,
      usage: { outputTokens: 400 },
    });
    const half = request({ startedAt: at - 30_000, firstByteMs: 0, totalMs: 20_000, usage: { outputTokens: 400 } });
    expect(tokensPerSecond([whole], at)).toBeCloseTo(20);
    expect(tokensPerSecond([half], at)).toBeCloseTo(10);
    expect(tokensPerSecond([request({ startedAt: at - 90_000, totalMs: 1_000 }), request({ totalMs: null })], at)).toBe(
      0,
    );
  });

  it('knows who calls: who has a request running, or had one a moment ago', () => {
    const requests = [
      request({ keyId: 'a', outcome: null, totalMs: null }),
      request({ keyId: 'a', outcome: null, totalMs: null }),
      request({ keyId: 'b', startedAt: at - 5_000, totalMs: 1_000 }),
      request({ keyId: 'c', startedAt: at - 60_000, totalMs: 1_000 }),
      request({ keyId: null }),
    ];
    expect(callersOf(requests, at)).toEqual([
      { keyId: 'a', running: 2 },
      { keyId: 'b', running: 0 },
    ]);
  });
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
    failed: 0,
    refused: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    unpricedRequests: 0,
  };
}

const live: LiveRequest = {
  id: 'req_1',
  startedAt: 0,
  keyId: 'k1',
  groupId: 'default',
  route: '/v1/chat/completions',
  method: 'POST',
  capability: 'chat',
  modelAsked: 'gpt-x',
  stream: true,
  session: null,
  outcome: 'ok',
  status: 200,
  errorCode: null,
  fault: null,
  cassette: null,
  shadowOf: null,
  captured: null,
  modelServed: 'gpt-x',
  provider: 'p1',
  firstByteMs: 0,
  totalMs: 0,
  usage: null,
  attempts: [],
  usageCertainty: 'reported',
  costUsd: null,
  client: null,
};
