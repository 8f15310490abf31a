import { describe, expect, test } from 'vitest';
import { calendarOf } from '../../../../../server/contract/calendar.ts';
import { usageDimensions } from '../../../../../server/contract/ledger.ts';
import type { UsageView } from '../../../../../server/contract/request-views.ts';
import type { UsageQuery } from '../../../../../server/store/rules/over-time.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import {
  began,
  day,
  dayName,
  ended,
  hour,
  minute,
  noon,
  quarter,
  rescued,
  type StoreSubject,
  useLedger,
} from '../store-subject.ts';

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
      const step = { name: null, failed: 0, refused: 0, inputTokens: 10, outputTokens: 5 };
      expect(await used.ledger.usageOverTime({ by: 'day', sinceMs: noon, untilMs: noon + 2 * hour, stepMs })).toEqual([
        { ...step, startMs: noon, requests: 2, failed: 1, costUsd: 0.5, unpricedRequests: 1 },
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
        { name: 'p0', requests: 0, failed: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 },
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
        const expected = [{ requests: 4, failed: 2, refused: 1 }];
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
        return steps.map(({ name, requests, failed }) => `${name} ${requests} ${failed}`).sort();
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

const byName = (one: UsageView, other: UsageView) => String(one.name).localeCompare(String(other.name));

export function usageContract(subject: StoreSubject): void {
  describe('a summary of usage', () => {
    const used = useLedger(subject);

    test('adds up requests, failures, amounts and the costs that are known', async () => {
      used.add(
        ended('req_1', { usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4 }, costUsd: 0.5 }),
        ended('req_2', { usage: { outputTokens: 7, reasoningTokens: 3 }, costUsd: null }),
        ended('req_3', { outcome: 'error', usage: null, costUsd: null }),
        ended('req_4', { outcome: 'client-gone', usage: { seconds: 1.5, characters: 9, images: 2 } }),
        ended('req_5', { outcome: 'stream-broken', usage: null, costUsd: 0 }),
      );
      expect(await used.ledger.summarizeUsage({ by: 'model' })).toEqual([
        {
          name: 'gpt-x',
          requests: 5,
          failed: 2,
          refused: 0,
          inputTokens: 10,
          outputTokens: 12,
          cachedInputTokens: 4,
          reasoningTokens: 3,
          seconds: 1.5,
          characters: 9,
          images: 2,
          costUsd: 0.501,
          unpricedRequests: 1,
        },
      ]);
    });

    test('does not count as unpriced what cannot cost anything', async () => {
      used.add(
        ended('req_1', { method: 'GET', capability: 'videos', usage: null, costUsd: null }),
        ended('req_2', { capability: null, costUsd: null }),
        ended('req_3', { provider: null, outcome: 'error', usage: null, costUsd: null }),
      );
      expect(await used.ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ requests: 3, unpricedRequests: 0 }]);
    });

    test('counts as unpriced a job where its usage is booked, and a cost that is known in part', async () => {
      const attempts = [attemptRecord({ usage: { inputTokens: 1 }, costUsd: null }), attemptRecord({ costUsd: 3 })];
      used.add(
        ended('req_1', { method: 'GET', capability: 'responses', costUsd: null }),
        ended('req_2', { attempts, costUsd: 3 }),
      );
      expect(await used.ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ costUsd: 3, unpricedRequests: 2 }]);
    });

    test('is by key, group, model as served else as asked, or provider, the most expensive first', async () => {
      used.add(
        ended('req_1', { keyId: 'k1', modelServed: 'a', provider: 'p1', costUsd: 1 }),
        ended('req_2', { keyId: 'k2', modelServed: 'b', provider: 'p2', costUsd: 3 }),
        ended('req_3', { keyId: 'k1', modelServed: null, provider: null, groupId: null, costUsd: null }),
      );
      const names = async (by: 'key' | 'group' | 'model' | 'provider') =>
        (await used.ledger.summarizeUsage({ by })).map((row) => `${row.name} ${row.requests}`);
      expect(await names('key')).toEqual(['k2 1', 'k1 2']);
      expect(await names('group')).toEqual(['default 2', 'null 1']);
      expect(await names('model')).toEqual(['b 1', 'a 1', 'fast 1']);
      expect(await names('provider')).toEqual(['p2 1', 'p1 1', 'null 1']);
      const ofSome = await used.ledger.summarizeUsage({ by: 'key', names: ['k1', 'nobody'] });
      expect(ofSome).toMatchObject([{ name: 'k1', requests: 2 }]);
      expect(await used.ledger.summarizeUsage({ by: 'key', names: [] })).toEqual([]);
    });

    test.each([
      { zone: 'UTC', days: ['0 3', '1 1'] },
      { zone: 'Asia/Kolkata', days: ['0 2', '1 2'] },
      { zone: 'Asia/Kathmandu', days: ['0 1', '1 3'] },
      { zone: 'America/New_York', days: ['0 4'] },
      { zone: 'Pacific/Auckland', days: ['1 4'] },
    ])('by day has the days of the clock of $zone', async ({ zone, days }) => {
      const midnight = noon - day / 2;
      for (const [index, minutes] of [12 * 60, 18 * 60 + 20, 23 * 60 + 50, 24 * 60 + 10].entries())
        used.add(ended(`req_${index}`, { startedAt: midnight + minutes * minute }));
      const summary = await used.ledger.summarizeUsage({ by: 'day', zone });
      const expected = days.map((each) => {
        const [days, requests] = each.split(' ');
        return `${dayName(noon + Number(days) * day)} ${requests}`;
      });
      expect(summary.map((row) => `${row.name} ${row.requests}`)).toEqual(expected);
    });

    test('read in winter, has a request of a summer night on the day of the budget that paid for it', async () => {
      const calendar = calendarOf('Europe/Berlin');
      const nights = ['2026-07-09T22:10:00Z', '2026-10-24T22:10:00Z', '2026-10-25T23:50:00Z', '2026-11-19T23:10:00Z'];
      for (const [index, night] of nights.entries())
        used.add(ended(`req_${index}`, { startedAt: Date.parse(night), costUsd: 5 }));
      const days = ['2026-07-10', '2026-10-25', '2026-10-26', '2026-11-20'];
      for (const [index, night] of nights.entries()) {
        const { startMs: sinceMs, endMs: untilMs } = calendar.periodOf('day', Date.parse(night));
        const question = { sinceMs, untilMs, zone: 'Europe/Berlin' };
        for (const within of [undefined, { keyIds: ['k1'], groupIds: [] }]) {
          const rows = await used.ledger.summarizeUsage({ by: 'day', ...question, ...(within && { within }) });
          expect(rows.map(({ name }) => name)).toEqual([days[index]]);
          const steps = await used.ledger.usageOverTime({
            ...{ by: 'day', stepMs: day, ...question },
            ...(within && { within }),
          });
          expect(steps.map(({ startMs }) => startMs)).toEqual([sinceMs]);
        }
        // Rows that are written long after their time are found by it too.
        expect(await used.ids({ sinceMs, untilMs })).toEqual([`req_${index}`]);
        expect(await used.ledger.countRequests({ sinceMs, untilMs })).toMatchObject({ requests: 1 });
        expect((await used.ledger.firstByteTimes({ ...question, stepMs: day })).steps).toMatchObject([
          { startMs: sinceMs },
        ]);
      }
    });

    test('counts the same time for an administrator and for a person', async () => {
      for (const minutes of [0, 5, 10, 14, 15, 29, 30])
        used.add(ended(`req_${minutes}`, { startedAt: noon + minutes * minute }));
      const question = { sinceMs: noon + 10 * minute, untilMs: noon + 16 * minute };
      for (const within of [undefined, { keyIds: ['k1'], groupIds: [] }]) {
        const all = { ...question, ...(within && { within }) };
        expect(await used.ledger.summarizeUsage({ by: 'model', ...all })).toMatchObject([{ requests: 6 }]);
        expect(await used.ledger.summarizeUsage({ by: 'day', ...all })).toMatchObject([{ requests: 6 }]);
        const steps = await used.ledger.usageOverTime({ by: 'day', stepMs: hour, ...all });
        expect(steps).toMatchObject([{ requests: 6 }]);
      }
    });

    test('of a span of time leaves out what is outside of it', async () => {
      for (const days of [-2, -1, 0]) used.add(ended(`req_${days}`, { startedAt: noon + days * day }));
      const question = { sinceMs: noon - day, untilMs: noon };
      const yesterday = [{ name: dayName(noon - day), requests: 1 }];
      expect(await used.ledger.summarizeUsage({ by: 'day', ...question })).toMatchObject(yesterday);
      expect(await used.ledger.summarizeUsage({ by: 'key', ...question })).toMatchObject([{ name: 'k1', requests: 1 }]);
    });

    test('counts a request once, and what its attempts used with those who were asked', async () => {
      used.add(rescued('req_1'));
      const of = async (by: 'key' | 'model' | 'provider') =>
        (await used.ledger.summarizeUsage({ by }))
          .map(({ name, requests, failed, outputTokens, costUsd, unpricedRequests }) =>
            [name, requests, failed, outputTokens, costUsd, unpricedRequests].join(' '),
          )
          .sort();
      expect(await of('key')).toEqual(['k1 1 0 16  1']);
      expect(await of('provider')).toEqual(['p0 0 0 0 0 0', 'p1 0 0 7 0.5 0', 'p2 1 0 9  1']);
      expect(await of('model')).toEqual(['a 0 0 7 0.5 0', 'b 1 0 9  1']);
    });

    test('has no cost where none is known, and else what is known of it', async () => {
      used.add(
        ended('req_1', { keyId: 'unknown', costUsd: null }),
        ended('req_2', { keyId: 'some', costUsd: null }),
        ended('req_3', { keyId: 'some', costUsd: 0.25 }),
        ended('req_4', { keyId: 'free', costUsd: 0 }),
      );
      const summary = await used.ledger.summarizeUsage({ by: 'key' });
      expect(summary[0]?.name).toBe('some');
      expect(Object.fromEntries(summary.map((row) => [row.name, [row.costUsd, row.unpricedRequests]]))).toEqual({
        some: [0.25, 1],
        free: [0, 0],
        unknown: [null, 1],
      });
    });

    test.each(usageDimensions)('of keys and groups counts by %s as one of all does', async (by) => {
      const failed = { outcome: 'error', usage: null, costUsd: null } as const;
      used.add(
        ended('req_1', {
          usage: { inputTokens: 10, cachedInputTokens: 4, reasoningTokens: 3, seconds: 1.5, images: 2 },
          costUsd: 0.25,
        }),
        ended('req_2', { startedAt: noon - day, keyId: 'k2', usage: { outputTokens: 7, characters: 9 }, costUsd: 3 }),
        ended('req_3', { method: 'GET', capability: 'responses', costUsd: null }),
        ended('req_4', { ...failed, method: 'GET', capability: 'videos' }),
        ended('req_5', { ...failed, provider: null, modelServed: null, status: 404, attempts: [] }),
        rescued('req_6', { groupId: 'g2' }),
        ended('req_7', {
          attempts: [
            attemptRecord({ startedAt: noon, usage: { inputTokens: 1 }, costUsd: null }),
            attemptRecord({ startedAt: noon, usage: { inputTokens: 2 }, costUsd: 3 }),
          ],
          usage: { inputTokens: 3 },
          costUsd: 3,
        }),
      );
      const time = { sinceMs: noon - 2 * day, untilMs: noon + hour };
      // Entries with equal costs have no order.
      const summary = async (more: Omit<UsageQuery, 'by'>) =>
        (await used.ledger.summarizeUsage({ by, zone: 'Asia/Kolkata', ...more })).sort(byName);
      const all = await summary(time);
      const within = { keyIds: ['k1', 'k2'], groupIds: [] };
      expect(await summary({ ...time, within })).toEqual(all);
      expect(await summary({ within })).toEqual(all);
      const ofGroup = await summary({ within: { keyIds: ['k2'], groupIds: ['g2'] } });
      expect(ofGroup.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
      expect(await summary({ within: { keyIds: [], groupIds: [] } })).toEqual([]);
    });

    test('of models whose price is unknown names equally used ones in alphabetical order, whoever used them first', async () => {
      // The first two are in another piece of what SQLite reads than the others.
      const models = new Map(
        ['delta', 'echo', 'alpha', 'charlie', 'bravo', 'echo'].map((name, index) => [
          index < 2 ? index : 4_500 + index,
          name,
        ]),
      );
      for (let index = 0; index < 5_000; index++) {
        const model = models.get(index);
        used.add(ended(`req_${index}`, model === undefined ? {} : { modelServed: model, costUsd: null }));
      }
      const once = ['alpha', 'bravo', 'charlie', 'delta'].map((model) => ({ provider: 'main', model, requests: 1 }));
      expect(await used.ledger.listUnpriced()).toEqual([{ provider: 'main', model: 'echo', requests: 2 }, ...once]);
    });

    test('is the same after a sweep, from sums of quarters of an hour or of days', async () => {
      for (let index = 0; index < 60; index += 1) {
        const startedAt = noon - (index % 5) * day + ((index * 7) % 24) * hour - day / 2;
        const more = { startedAt, keyId: `k${index % 3}`, costUsd: index % 3 === 0 ? null : index / 16 };
        used.add(index % 11 === 0 ? rescued(`req_${index}`, more) : ended(`req_${index}`, more));
      }
      const spans = [{}, { sinceMs: noon - 3 * day }, { sinceMs: noon - 3 * day + hour, untilMs: noon - day + hour }];
      const questions = spans.flatMap((span) => usageDimensions.map((by) => ({ by, zone: 'Asia/Kolkata', ...span })));
      const answers = () => Promise.all(questions.map((question) => used.ledger.summarizeUsage(question)));
      const before = await answers();
      await used.ledger.sweep();
      const inOrder = (all: UsageView[][]) => all.map((rows) => rows.toSorted(byName));
      expect(inOrder(await answers())).toEqual(inOrder(before));
      expect(before[0]?.length).toBeGreaterThan(4);
    });
  });
}
