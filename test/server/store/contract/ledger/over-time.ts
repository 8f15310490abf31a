import { describe, expect, test } from 'vitest';
import type { StoreSubject } from '../store-subject.ts';
import { began, day, ended, hour, minute, noon, quarter, rescued, useLedger } from './used-ledger.ts';

/** Some stores answer steps of quarter-hours from sums, and shorter ones from the requests. */
const stepLengths = [quarter, minute];

export function overTimeContract(subject: StoreSubject): void {
  describe('usage over time', () => {
    const used = useLedger(subject);

    test.each(stepLengths)('is told step by step, by steps of %s ms', async (stepMs) => {
      used.add(
        ended('req_1', { costUsd: 0.5 }),
        ended('req_2', { startedAt: noon + 1, outcome: 'stream-broken', usage: null, costUsd: null }),
        ended('req_3', { startedAt: noon + hour, outcome: 'client-gone', costUsd: 0.25 }),
      );
      used.ledger.started(began('req_running', { startedAt: noon + hour }));
      const step = { name: null, errors: 0, refused: 0, inputTokens: 10, outputTokens: 5 };
      expect(await used.ledger.usageOverTime({ by: 'day', sinceMs: noon, untilMs: noon + 2 * hour, stepMs })).toEqual([
        { ...step, startMs: noon, requests: 2, errors: 1, costUsd: 0.5, unpricedRequests: 1 },
        { ...step, startMs: noon + hour, requests: 1, costUsd: 0.25, unpricedRequests: 0 },
      ]);
    });

    test.each(stepLengths)('is told by name, and only of what was asked for, by steps of %s ms', async (stepMs) => {
      used.add(
        ended('req_1', { keyId: 'k1', provider: 'p1' }),
        ended('req_2', { keyId: 'k1', provider: 'p2' }),
        ended('req_3', { keyId: null, provider: 'p2', modelServed: null, modelAsked: 'fast' }),
      );
      const question = { sinceMs: noon, untilMs: noon + hour, stepMs };
      const names = async (by: 'key' | 'provider' | 'model', only?: string[]) =>
        (await used.ledger.usageOverTime({ by, ...question, ...(only && { names: only }) }))
          .map((step) => `${step.name} ${step.requests}`)
          .sort();
      expect(await names('key')).toEqual(['k1 2', 'null 1']);
      expect(await names('key', [''])).toEqual(['null 1']);
      expect(await names('provider', ['p2', 'p9'])).toEqual(['p2 2']);
      expect(await names('model')).toEqual(['fast 1', 'gpt-x 2']);
    });

    test.each(stepLengths)('of several attempts is of those who were asked, by steps of %s ms', async (stepMs) => {
      used.add(rescued('req_1'), ended('req_2', { provider: 'p1', modelServed: 'a' }));
      const question = { sinceMs: noon, untilMs: noon + hour, stepMs };
      const steps = await used.ledger.usageOverTime({ by: 'provider', ...question });
      expect(steps.toSorted((a, b) => (a.name ?? '').localeCompare(b.name ?? ''))).toMatchObject([
        { name: 'p0', requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 },
        { name: 'p1', requests: 1, inputTokens: 30, outputTokens: 12, costUsd: 0.501, unpricedRequests: 0 },
        { name: 'p2', requests: 1, inputTokens: 21, outputTokens: 9, costUsd: null, unpricedRequests: 1 },
      ]);
      expect(await used.ledger.usageOverTime({ by: 'model', ...question, names: ['b'] })).toMatchObject([
        { name: 'b', requests: 1, outputTokens: 9, unpricedRequests: 1 },
      ]);
      expect(await used.ledger.usageOverTime({ by: 'key', ...question })).toMatchObject([
        { name: 'k1', requests: 2, inputTokens: 51, outputTokens: 21 },
      ]);
    });

    test.each(stepLengths)(
      'tells what Sluice refused from what providers failed, by steps of %s ms',
      async (stepMs) => {
        const error = { outcome: 'error', usage: null, costUsd: null } as const;
        const refused = { ...error, provider: null, attempts: [] };
        used.add(
          ended('req_1'),
          ended('req_2', { ...refused, status: 404, errorCode: 'model_not_found' }),
          ended('req_3', { ...refused, status: 503, errorCode: 'no_healthy_provider' }),
          ended('req_4', { ...error, status: 429 }),
        );
        const time = { sinceMs: noon, untilMs: noon + hour };
        const expected = [{ requests: 4, errors: 3, refused: 1 }];
        expect(await used.ledger.usageOverTime({ by: 'day', ...time, stepMs })).toMatchObject(expected);
        expect(await used.ledger.summarizeUsage({ by: 'key', ...time })).toMatchObject(expected);
      },
    );

    test('outside the time asked for is left out', async () => {
      for (const startedAt of [noon - hour, noon, noon + hour]) used.add(ended(`req_${startedAt}`, { startedAt }));
      for (const stepMs of [minute, hour]) {
        const steps = await used.ledger.usageOverTime({ by: 'day', sinceMs: noon, untilMs: noon + hour, stepMs });
        expect(steps.map(({ startMs, requests }) => [startMs, requests])).toEqual([[noon, 1]]);
      }
    });

    test('by days begins at local midnight, and so do times to the first byte', async () => {
      const midnightThere = noon + 390 * minute;
      used.add(ended('req_1', { startedAt: midnightThere - 1 }), ended('req_2', { startedAt: midnightThere }));
      const question = { sinceMs: noon - day, untilMs: noon + day, stepMs: day, zone: 'Asia/Kolkata' };
      const starts = [midnightThere - day, midnightThere];
      const startsOf = (steps: readonly { startMs: number }[]) => steps.map(({ startMs }) => startMs);
      expect(startsOf(await used.ledger.usageOverTime({ by: 'day', ...question }))).toEqual(starts);
      expect(startsOf((await used.ledger.firstByteTimes(question)).steps)).toEqual(starts);
    });

    test('of many requests is told as one', async () => {
      for (let index = 0; index < 5_000; index += 1) used.add(ended(`req_${index}`, { startedAt: noon + index }));
      const steps = await used.ledger.usageOverTime({
        by: 'day',
        sinceMs: noon,
        untilMs: noon + minute,
        stepMs: minute,
      });
      expect(steps).toMatchObject([{ requests: 5_000, inputTokens: 50_000 }]);
    });

    test('of some keys and groups is told by model and day, whatever the step', async () => {
      used.add(
        ended('req_1', { keyId: 'k1', groupId: 'g1' }),
        ended('req_2', { keyId: 'k2', groupId: 'g1', modelServed: 'b', fault: 'slow', outcome: 'error' }),
        ended('req_3', { keyId: 'k3', groupId: 'g2', modelServed: 'c', startedAt: noon + hour }),
      );
      const told = async (keyIds: string[], groupIds: string[]) => {
        const question = { by: 'model', sinceMs: noon, untilMs: noon + 2 * day, stepMs: day } as const;
        const steps = await used.ledger.usageOverTime({ ...question, within: { keyIds, groupIds } });
        return steps.map(({ name, requests, errors }) => `${name} ${requests} ${errors}`).sort();
      };
      expect(await told(['k1', 'k3'], [])).toEqual(['c 1 0', 'gpt-x 1 0']);
      // A fault on purpose is not counted as an error.
      expect(await told([], ['g1'])).toEqual(['b 1 0', 'gpt-x 1 0']);
      expect(await told([], [])).toEqual([]);
    });
  });

  firstByteContract(subject);
}

function firstByteContract(subject: StoreSubject): void {
  describe('times to the first byte', () => {
    const used = useLedger(subject);

    test('are told by median and 95th percentile', async () => {
      for (let index = 1; index <= 100; index += 1)
        used.add(ended(`req_${index}`, { startedAt: noon + index, firstByteMs: index }));
      used.add(
        ended('req_later', { startedAt: noon + hour, firstByteMs: 7 }),
        ended('req_refused', { startedAt: noon + hour, firstByteMs: null }),
      );
      const { steps } = await used.ledger.firstByteTimes({ sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour });
      expect(steps).toEqual([
        { startMs: noon, samples: 100, medianMs: 50, p95Ms: 95 },
        { startMs: noon + hour, samples: 1, medianMs: 7, p95Ms: 7 },
      ]);
    });

    test('are told apart by name, among the same samples', async () => {
      for (let index = 1; index <= 100; index += 1) {
        const more = index % 2 === 0 ? { provider: 'slow', firstByteMs: 1_000 + index } : { firstByteMs: index };
        used.add(ended(`req_${index}`, { startedAt: noon + index, ...more }));
      }
      used.add(ended('req_none', { startedAt: noon + hour, provider: null, firstByteMs: 5 }));
      const time = { sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour };
      const { steps, named } = await used.ledger.firstByteTimes({ by: 'provider', ...time });
      expect(steps.map(({ samples }) => samples)).toEqual([100, 1]);
      expect(named).toEqual([
        { name: 'main', startMs: noon, samples: 50, medianMs: 49, p95Ms: 95 },
        { name: 'slow', startMs: noon, samples: 50, medianMs: 1_050, p95Ms: 1_096 },
        { name: null, startMs: noon + hour, samples: 1, medianMs: 5, p95Ms: 5 },
      ]);
      const ofSome = await used.ledger.firstByteTimes({ by: 'provider', names: ['main', ''], ...time });
      expect(ofSome.named.map(({ name }) => name)).toEqual(['main', null]);
      expect((await used.ledger.firstByteTimes(time)).named).toEqual([]);
    });

    test('weigh more where there were more requests, though the samples are as many', async () => {
      for (let index = 0; index < 4_000; index += 1)
        used.add(ended(`req_a${index}`, { startedAt: noon + index, firstByteMs: 10 }));
      for (let index = 0; index < 500; index += 1)
        used.add(ended(`req_b${index}`, { startedAt: noon + hour + index, firstByteMs: 1_000 }));
      const times = await used.ledger.firstByteTimes({ sinceMs: noon, untilMs: noon + 2 * hour, stepMs: hour });
      expect(times.steps.map(({ samples }) => samples)).toEqual([400, 400]);
      expect([times.medianMs, times.p95Ms]).toEqual([10, 1_000]);
    });
  });
}
