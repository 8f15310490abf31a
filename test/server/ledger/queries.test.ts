import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createLedger, type Ledger } from '../../../server/ledger/ledger.ts';
import { attemptRecord } from '../../support/attempt-record.ts';
import { finishedRow, noon, rescuedRow, silent } from './records.ts';

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
const day = 1_440 * minute;

async function ids(filter: Parameters<Ledger['listRequests']>[0]) {
  return (await ledger.listRequests(filter)).requests.map((row) => row.id);
}

test('requests are listed newest first, a page at a time, none twice and none left out', async () => {
  for (let index = 0; index < 25; index += 1) ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + index }));
  const seen: string[] = [];
  let before: number | null | undefined;
  let pages = 0;
  while (before !== null) {
    const page = await ledger.listRequests({ limit: 10, ...(before === undefined ? {} : { before }) });
    seen.push(...page.requests.map((row) => row.id));
    before = page.next;
    pages += 1;
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `req_${24 - index}`));
  expect(pages).toBe(3);
});

test('an empty ledger answers everything', async () => {
  expect(await ledger.listRequests({ sinceMs: noon, untilMs: noon + 1 })).toEqual({
    requests: [],
    next: null,
    sortedOf: null,
  });
  expect(await ledger.getRequest('req_1')).toBeNull();
  expect(await ledger.listClients()).toEqual([]);
  expect(await ledger.summarizeUsage({ by: 'day' })).toEqual([]);
  expect(await ledger.sweep()).toBe(0);
});

test('clients are told with their keys, the one used last first', async () => {
  const python = 'OpenAI/Python 2.8.0';
  const use = (client: string | null, keyId: string, startedAt: number) =>
    ledger.finished(finishedRow(`req_${startedAt}`, { client, keyId, startedAt: noon + startedAt }));
  use('curl/8.5.0', 'k1', 1);
  use(python, 'k1', 2);
  use(null, 'k1', 3);
  for (let index = 0; index < 5_000; index += 1) use(python, 'k2', 10 + index);
  use('curl/8.5.0', 'k1', 6_000);
  expect(await ledger.listClients()).toEqual([
    { client: 'curl/8.5.0', keyId: 'k1', lastUsedAt: noon + 6_000 },
    { client: python, keyId: 'k2', lastUsedAt: noon + 5_009 },
    { client: python, keyId: 'k1', lastUsedAt: noon + 2 },
  ]);
});

test('models whose price was not known are told with the number of their requests, most first', async () => {
  const use = (id: string, more: Parameters<typeof finishedRow>[1]) => ledger.finished(finishedRow(id, more));
  for (let index = 0; index < 4_100; index += 1) use(`req_a${index}`, { costUsd: null, modelServed: 'often' });
  use('req_b', { costUsd: null, provider: 'other', modelServed: null, modelAsked: 'once' });
  use('req_priced', { costUsd: 0.5, modelServed: 'priced' });
  use('req_free_of_usage', { costUsd: null, modelServed: 'failed', outcome: 'error', usage: null });
  use('req_looked_up', { costUsd: null, modelServed: 'looked-up', method: 'GET', usage: null });
  use('req_refused', { costUsd: null, provider: null, modelServed: null, outcome: 'error' });
  expect(await ledger.listUnpriced()).toEqual([
    { provider: 'main', model: 'often', requests: 4_100 },
    { provider: 'other', model: 'once', requests: 1 },
  ]);
});

test('each filter leaves what it names', async () => {
  ledger.finished(
    finishedRow('req_a', { keyId: 'k1', groupId: 'g1', provider: 'p1', modelAsked: 'fast', outcome: 'ok' }),
  );
  ledger.finished(
    finishedRow('req_b', { keyId: 'k2', groupId: 'g2', provider: 'p2', modelServed: 'fast', outcome: 'error' }),
  );
  ledger.finished(
    finishedRow('req_c', { keyId: 'k2', groupId: 'g1', provider: 'p1', modelAsked: 'm', modelServed: 'n' }),
  );
  expect(await ids({ keyId: 'k2' })).toEqual(['req_c', 'req_b']);
  expect(await ids({ groupId: 'g1' })).toEqual(['req_c', 'req_a']);
  expect(await ids({ provider: 'p1', keyId: 'k1' })).toEqual(['req_a']);
  expect(await ids({ model: 'fast' })).toEqual(['req_b', 'req_a']);
  expect(await ids({ outcome: 'error' })).toEqual(['req_b']);
  expect(await ids({ keyId: 'nobody' })).toEqual([]);
});

test('a span of time holds its begin and not its end, also where a clock was set back', async () => {
  for (const [index, minutes] of [0, 300, 600, 590, 900].entries()) {
    ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + minutes * minute }));
  }
  expect(await ids({ sinceMs: noon + 590 * minute })).toEqual(['req_4', 'req_3', 'req_2']);
  expect(await ids({ sinceMs: noon + 595 * minute, untilMs: noon + 900 * minute })).toEqual(['req_2']);
  expect(await ids({ untilMs: noon })).toEqual([]);
});

test('a rare request is found among very many', async () => {
  ledger.finished(finishedRow('req_rare', { keyId: 'rare' }));
  for (let index = 0; index < 9_000; index += 1) ledger.finished(finishedRow(`req_${index}`));
  expect(await ids({ keyId: 'rare' })).toEqual(['req_rare']);
  expect((await ledger.getRequest('req_rare'))?.keyId).toBe('rare');
  expect((await ledger.getRequest('req_8999'))?.seq).toBe(9_001);
});

test('a summary adds up requests, errors, amounts and the costs that are known', async () => {
  ledger.finished(
    finishedRow('req_1', { usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4 }, costUsd: 0.5 }),
  );
  ledger.finished(finishedRow('req_2', { usage: { outputTokens: 7, reasoningTokens: 3 }, costUsd: null }));
  ledger.finished(finishedRow('req_3', { outcome: 'error', usage: null, costUsd: null }));
  ledger.finished(finishedRow('req_4', { outcome: 'client-gone', usage: { seconds: 1.5, characters: 9, images: 2 } }));
  ledger.finished(finishedRow('req_5', { outcome: 'stream-broken', usage: null, costUsd: 0 }));
  expect(await ledger.summarizeUsage({ by: 'model' })).toEqual([
    {
      name: 'gpt-x',
      requests: 5,
      errors: 2,
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

test('a request that can cost nothing does not count as unpriced', async () => {
  ledger.finished(finishedRow('req_1', { method: 'GET', capability: 'videos', usage: null, costUsd: null }));
  ledger.finished(finishedRow('req_2', { capability: null, costUsd: null }));
  ledger.finished(finishedRow('req_3', { provider: null, outcome: 'error', usage: null, costUsd: null }));
  expect(await ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ requests: 3, unpricedRequests: 0 }]);
});

test('a job of unknown price counts as unpriced where its usage is booked, and a cost that is known in part as well', async () => {
  ledger.finished(finishedRow('req_1', { method: 'GET', capability: 'responses', costUsd: null }));
  const attempts = [attemptRecord({ usage: { inputTokens: 1 }, costUsd: null }), attemptRecord({ costUsd: 3 })];
  ledger.finished(finishedRow('req_2', { attempts, costUsd: 3 }));
  expect(await ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ costUsd: 3, unpricedRequests: 2 }]);
});

test('a summary is by key, group, model as served else as asked, or provider, the most expensive first', async () => {
  ledger.finished(finishedRow('req_1', { keyId: 'k1', modelServed: 'a', provider: 'p1', costUsd: 1 }));
  ledger.finished(finishedRow('req_2', { keyId: 'k2', modelServed: 'b', provider: 'p2', costUsd: 3 }));
  ledger.finished(
    finishedRow('req_3', { keyId: 'k1', modelServed: null, provider: null, groupId: null, costUsd: null }),
  );
  const names = async (by: 'key' | 'group' | 'model' | 'provider') =>
    (await ledger.summarizeUsage({ by })).map((row) => `${row.name} ${row.requests}`);
  expect(await names('key')).toEqual(['k2 1', 'k1 2']);
  expect(await names('group')).toEqual(['default 2', 'null 1']);
  expect(await names('model')).toEqual(['b 1', 'a 1', 'fast 1']);
  expect(await names('provider')).toEqual(['p2 1', 'p1 1', 'null 1']);
  expect(await ledger.summarizeUsage({ by: 'key', names: ['k1', 'nobody'] })).toMatchObject([
    { name: 'k1', requests: 2 },
  ]);
  expect(await ledger.summarizeUsage({ by: 'key', names: [] })).toEqual([]);
});

test.each([
  { utcOffsetMinutes: 0, days: ['2026-11-20 3', '2026-11-21 1'] },
  { utcOffsetMinutes: 330, days: ['2026-11-20 2', '2026-11-21 2'] },
  { utcOffsetMinutes: 345, days: ['2026-11-20 1', '2026-11-21 3'] },
  { utcOffsetMinutes: -780, days: ['2026-11-19 1', '2026-11-20 3'] },
])('days are those of a clock $utcOffsetMinutes minutes ahead of UTC', async ({ utcOffsetMinutes, days }) => {
  const at = [12 * 60, 18 * 60 + 20, 23 * 60 + 50, 24 * 60 + 10];
  const midnight = noon - 720 * minute;
  for (const [index, minutes] of at.entries()) {
    ledger.finished(finishedRow(`req_${index}`, { startedAt: midnight + minutes * minute }));
  }
  const summary = await ledger.summarizeUsage({ by: 'day', utcOffsetMinutes });
  expect(summary.map((row) => `${row.name} ${row.requests}`)).toEqual(days);
});

test('a summary of a span of time leaves out what is outside of it', async () => {
  for (const days of [0, 1, 2]) ledger.finished(finishedRow(`req_${days}`, { startedAt: noon + days * day }));
  const question = { sinceMs: noon + day, untilMs: noon + 2 * day };
  expect(await ledger.summarizeUsage({ by: 'day', ...question })).toMatchObject([{ name: '2026-11-21', requests: 1 }]);
  expect(await ledger.summarizeUsage({ by: 'key', ...question })).toMatchObject([{ name: 'k1', requests: 1 }]);
});

test('a request counts once, and what its attempts used counts with those who were asked', async () => {
  ledger.finished(rescuedRow('req_1'));
  const of = async (by: 'key' | 'model' | 'provider') =>
    (await ledger.summarizeUsage({ by }))
      .map(({ name, requests, errors, outputTokens, costUsd, unpricedRequests }) =>
        [name, requests, errors, outputTokens, costUsd, unpricedRequests].join(' '),
      )
      .sort();
  expect(await of('key')).toEqual(['k1 1 0 16  1']);
  expect(await of('provider')).toEqual(['p0 0 0 0 0 0', 'p1 0 0 7 0.5 0', 'p2 1 0 9  1']);
  expect(await of('model')).toEqual(['a 0 0 7 0.5 0', 'b 1 0 9  1']);
});

test('a cost is unknown where none of it is known, and else what is known of it', async () => {
  ledger.finished(finishedRow('req_1', { keyId: 'unknown', costUsd: null }));
  ledger.finished(finishedRow('req_2', { keyId: 'some', costUsd: null }));
  ledger.finished(finishedRow('req_3', { keyId: 'some', costUsd: 0.25 }));
  ledger.finished(finishedRow('req_4', { keyId: 'free', costUsd: 0 }));
  expect(await ledger.summarizeUsage({ by: 'key' })).toMatchObject([
    { name: 'some', costUsd: 0.25, unpricedRequests: 1 },
    { name: 'free', costUsd: 0, unpricedRequests: 0 },
    { name: 'unknown', costUsd: null, unpricedRequests: 1 },
  ]);
});
