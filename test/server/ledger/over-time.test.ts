import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createLedger, type Ledger } from '../../../server/ledger/ledger.ts';
import { finishedRow, noon, rescuedRow, silent, startedRow } from './records.ts';

let database: Database;
let ledger: Ledger;
beforeEach(() => {
  database = openDatabase(':memory:');
  ledger = createLedger({ database, log: silent });
});
afterEach(() => {
  ledger.close();
  database.close();
});

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  ['from the sums', 15 * minute],
  ['from the requests', minute],
])('usage is told step by step, %s', async (_, stepMs) => {
  ledger.finished(finishedRow('req_1', { startedAt: noon, costUsd: 0.5 }));
  ledger.finished(finishedRow('req_2', { startedAt: noon + 1, outcome: 'stream-broken', usage: null, costUsd: null }));
  ledger.finished(finishedRow('req_3', { startedAt: noon + hour, outcome: 'client-gone', costUsd: 0.25 }));
  ledger.started(startedRow('req_running', { startedAt: noon + hour }));
  expect(await ledger.usageOverTime({ by: 'day', sinceMs: noon, untilMs: noon + 2 * hour, stepMs })).toEqual([
    {
      startMs: noon,
      name: null,
      requests: 2,
      errors: 1,
      refused: 0,
      inputTokens: 10,
      outputTokens: 5,
      costUsd: 0.5,
      unpricedRequests: 1,
    },
    {
      startMs: noon + hour,
      name: null,
      requests: 1,
      errors: 0,
      refused: 0,
      inputTokens: 10,
      outputTokens: 5,
      costUsd: 0.25,
      unpricedRequests: 0,
    },
  ]);
});

test.each([15 * minute, minute])(
  'usage by steps of %s ms is told by name, and only of what was asked for',
  async (stepMs) => {
    ledger.finished(finishedRow('req_1', { keyId: 'k1', provider: 'p1' }));
    ledger.finished(finishedRow('req_2', { keyId: 'k1', provider: 'p2' }));
    ledger.finished(finishedRow('req_3', { keyId: null, provider: 'p2', modelServed: null, modelAsked: 'fast' }));
    const question = { sinceMs: noon, untilMs: noon + hour, stepMs };
    const names = async (by: 'key' | 'provider' | 'model', only?: string[]) =>
      (await ledger.usageOverTime({ by, ...question, ...(only && { names: only }) }))
        .map((step) => `${step.name} ${step.requests}`)
        .sort();
    expect(await names('key')).toEqual(['k1 2', 'null 1']);
    expect(await names('key', [''])).toEqual(['null 1']);
    expect(await names('provider', ['p2', 'p9'])).toEqual(['p2 2']);
    expect(await names('model')).toEqual(['fast 1', 'gpt-x 2']);
  },
);

test.each([15 * minute, minute])(
  'usage of several attempts is of those who were asked, by steps of %s ms',
  async (stepMs) => {
    ledger.finished(rescuedRow('req_1'));
    ledger.finished(finishedRow('req_2', { provider: 'p1', modelServed: 'a' }));
    const question = { sinceMs: noon, untilMs: noon + hour, stepMs };
    const steps = await ledger.usageOverTime({ by: 'provider', ...question });
    expect(steps.toSorted((a, b) => (a.name ?? '').localeCompare(b.name ?? ''))).toMatchObject([
      { name: 'p0', requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 },
      { name: 'p1', requests: 1, inputTokens: 30, outputTokens: 12, costUsd: 0.501, unpricedRequests: 0 },
      { name: 'p2', requests: 1, inputTokens: 21, outputTokens: 9, costUsd: null, unpricedRequests: 1 },
    ]);
    expect(await ledger.usageOverTime({ by: 'model', ...question, names: ['b'] })).toMatchObject([
      { name: 'b', requests: 1, outputTokens: 9, unpricedRequests: 1 },
    ]);
    expect(await ledger.usageOverTime({ by: 'key', ...question })).toMatchObject([
      { name: 'k1', requests: 2, inputTokens: 51, outputTokens: 21 },
    ]);
  },
);

test('usage outside the time asked for is left out', async () => {
  for (const startedAt of [noon - hour, noon, noon + hour])
    ledger.finished(finishedRow(`req_${startedAt}`, { startedAt }));
  for (const stepMs of [minute, hour]) {
    const steps = await ledger.usageOverTime({ by: 'day', sinceMs: noon, untilMs: noon + hour, stepMs });
    expect(steps.map(({ startMs, requests }) => [startMs, requests])).toEqual([[noon, 1]]);
  }
});

test('steps of a day begin at local midnight', async () => {
  const midnightThere = Date.UTC(2026, 10, 20, 18, 30);
  ledger.finished(finishedRow('req_1', { startedAt: midnightThere - 1 }));
  ledger.finished(finishedRow('req_2', { startedAt: midnightThere }));
  const question = { sinceMs: noon - day, untilMs: noon + day, stepMs: day, utcOffsetMinutes: 330 };
  const starts = [midnightThere - day, midnightThere];
  expect((await ledger.usageOverTime({ by: 'day', ...question })).map(({ startMs }) => startMs)).toEqual(starts);
  expect((await ledger.firstByteTimes(question)).steps.map(({ startMs }) => startMs)).toEqual(starts);
});

test('more than one piece of requests is told as one', async () => {
  for (let index = 0; index < 9_000; index += 1) {
    ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + index }));
  }
  const [step, ...others] = await ledger.usageOverTime({
    by: 'day',
    sinceMs: noon,
    untilMs: noon + minute,
    stepMs: minute,
  });
  expect([step?.requests, step?.inputTokens, others]).toEqual([9_000, 90_000, []]);
});

test('times to the first byte are told by median and 95th percentile', async () => {
  for (let index = 1; index <= 100; index += 1) {
    ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + index, firstByteMs: index }));
  }
  ledger.finished(finishedRow('req_later', { startedAt: noon + hour, firstByteMs: 7 }));
  ledger.finished(finishedRow('req_refused', { startedAt: noon + hour, firstByteMs: null }));
  const { steps } = await ledger.firstByteTimes({ sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour });
  expect(steps).toEqual([
    { startMs: noon, samples: 100, medianMs: 50, p95Ms: 95 },
    { startMs: noon + hour, samples: 1, medianMs: 7, p95Ms: 7 },
  ]);
});

test('times to the first byte are told apart by name, among the same samples', async () => {
  for (let index = 1; index <= 100; index += 1) {
    const more = index % 2 === 0 ? { provider: 'slow', firstByteMs: 1_000 + index } : { firstByteMs: index };
    ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + index, ...more }));
  }
  ledger.finished(finishedRow('req_none', { startedAt: noon + hour, provider: null, firstByteMs: 5 }));
  const time = { sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour };
  const { steps, named } = await ledger.firstByteTimes({ by: 'provider', ...time });
  expect(steps.map(({ samples }) => samples)).toEqual([100, 1]);
  expect(named).toEqual([
    { name: 'slow', startMs: noon, samples: 50, medianMs: 1_050, p95Ms: 1_096 },
    { name: 'main', startMs: noon, samples: 50, medianMs: 49, p95Ms: 95 },
    { name: null, startMs: noon + hour, samples: 1, medianMs: 5, p95Ms: 5 },
  ]);
  const ofSome = await ledger.firstByteTimes({ by: 'provider', names: ['main', ''], ...time });
  expect(ofSome.named.map(({ name }) => name)).toEqual(['main', null]);
  expect((await ledger.firstByteTimes(time)).named).toEqual([]);
});

test('a step with many requests weighs more than one with few, though the samples are as many', async () => {
  for (let index = 0; index < 4_000; index += 1) {
    ledger.finished(finishedRow(`req_a${index}`, { startedAt: noon + index, firstByteMs: 10 }));
  }
  for (let index = 0; index < 500; index += 1) {
    ledger.finished(finishedRow(`req_b${index}`, { startedAt: noon + hour + index, firstByteMs: 1_000 }));
  }
  const times = await ledger.firstByteTimes({ sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour });
  expect(times.steps.map(({ samples }) => samples)).toEqual([400, 400]);
  expect([times.medianMs, times.p95Ms]).toEqual([10, 1_000]);
});

test('of an empty ledger nothing is told', async () => {
  const question = { sinceMs: noon, untilMs: noon + day, stepMs: hour };
  expect(await ledger.usageOverTime({ by: 'day', ...question })).toEqual([]);
  expect(await ledger.firstByteTimes(question)).toEqual({ steps: [], named: [], medianMs: null, p95Ms: null });
});

test.each([15 * minute, minute])(
  'what Sluice refused is told apart from what providers failed, by steps of %s ms',
  async (stepMs) => {
    const error = { outcome: 'error', usage: null, costUsd: null } as const;
    const refused = { ...error, provider: null, attempts: [] };
    ledger.finished(finishedRow('req_1'));
    ledger.finished(finishedRow('req_2', { ...refused, status: 404, errorCode: 'model_not_found' }));
    ledger.finished(finishedRow('req_3', { ...refused, status: 503, errorCode: 'no_healthy_provider' }));
    ledger.finished(finishedRow('req_4', { ...error, status: 429 }));
    const time = { sinceMs: noon, untilMs: noon + hour };
    const expected = [{ requests: 4, errors: 3, refused: 1 }];
    expect(await ledger.usageOverTime({ by: 'day', ...time, stepMs })).toMatchObject(expected);
    expect(await ledger.summarizeUsage({ by: 'key', ...time })).toMatchObject(expected);
  },
);

test('usage of some keys and groups is told by model and day, whatever the step', async () => {
  ledger.finished(finishedRow('req_1', { keyId: 'k1', groupId: 'g1' }));
  ledger.finished(
    finishedRow('req_2', { keyId: 'k2', groupId: 'g1', modelServed: 'b', fault: 'slow', outcome: 'error' }),
  );
  ledger.finished(finishedRow('req_3', { keyId: 'k3', groupId: 'g2', modelServed: 'c', startedAt: noon + day }));
  const told = async (keyIds: string[], groupIds: string[]) => {
    const question = { by: 'model', sinceMs: noon, untilMs: noon + 2 * day, stepMs: day } as const;
    const steps = await ledger.usageOverTime({ ...question, within: { keyIds, groupIds } });
    return steps.map(({ name, requests, errors }) => `${name} ${requests} ${errors}`).sort();
  };
  expect(await told(['k1', 'k3'], [])).toEqual(['c 1 0', 'gpt-x 1 0']);
  // That a fault was met on purpose is no error.
  expect(await told([], ['g1'])).toEqual(['b 1 0', 'gpt-x 1 0']);
  expect(await told([], [])).toEqual([]);
});
