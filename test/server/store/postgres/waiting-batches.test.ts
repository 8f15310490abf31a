import { afterEach, expect, test } from 'vitest';
import type { Batch } from '../../../../server/store/postgres/ledger-writer.ts';
import { WaitingBatches } from '../../../../server/store/postgres/waiting-batches.ts';
import { finishedRow, noon, sessionMark, silent, startedRow } from '../../ledger/records.ts';

let waiting: WaitingBatches | undefined;
afterEach(() => waiting?.close());

/** Takes batches, after as many failures as are given. */
function open(failures: Error[] = [], { nowMs = noon + 60_000 } = {}) {
  const written: Batch[] = [];
  const tried: Batch[] = [];
  const joined: string[] = [];
  const writer = {
    async write(batch: Batch) {
      tried.push(batch);
      const failure = failures.shift();
      if (failure) throw failure;
      written.push(batch);
    },
    async join({ requestId }: { requestId: string }) {
      if (!written.some(({ rows }) => rows.some(({ id }) => id === requestId))) return false;
      joined.push(requestId);
      return true;
    },
  };
  waiting = new WaitingBatches({ writer, log: silent, flushMs: 5, now: () => nowMs });
  const idsOf = (batches: readonly Batch[]) => batches.map(({ rows }) => rows.map(({ id }) => id));
  return { waiting, written, tried, joined, idsOf };
}

const away = new Error('connect ECONNREFUSED');

test('what waits is written together', async () => {
  const { waiting, written, idsOf } = open();
  for (const id of ['a', 'b', 'c']) waiting.add(finishedRow(id));
  expect(waiting.health).toMatchObject({ pending: 3, ok: true });
  await waiting.flush();
  expect(idsOf(written)).toEqual([['a', 'b', 'c']]);
  expect(waiting.health).toMatchObject({ pending: 0 });
});

test('a batch whose fate is not known is written again as it was, before what came later', async () => {
  const { waiting, tried, idsOf } = open([away]);
  waiting.add(finishedRow('a'));
  await waiting.flush();
  expect(waiting.health).toMatchObject({ ok: false, pending: 1, lastError: away.message });
  waiting.add(finishedRow('b'));
  await waiting.flush();
  expect(idsOf(tried)).toEqual([['a'], ['a'], ['b']]);
  expect(tried[1]).toBe(tried[0]);
  expect(waiting.health).toMatchObject({ ok: true, pending: 0, dropped: 0 });
});

test('a batch that would fail for ever is dropped and counted', async () => {
  const { waiting, written, idsOf } = open([new TypeError('a mistake of Sluice')]);
  waiting.add(finishedRow('a'));
  await waiting.flush();
  waiting.add(finishedRow('b'));
  await waiting.flush();
  expect(idsOf(written)).toEqual([['b']]);
  expect(waiting.health).toMatchObject({ dropped: 1 });
});

test('of very many that cannot be written the oldest are dropped and counted', async () => {
  const { waiting } = open([away]);
  for (let index = 0; index < 10_003; index++) waiting.add(finishedRow(`r${index}`));
  expect(waiting.health).toMatchObject({ pending: 10_000, dropped: 3 });
});

test('a large number is written in batches of a thousand', async () => {
  const { waiting, written } = open();
  for (let index = 0; index < 2_500; index++) waiting.add(finishedRow(`r${index}`));
  await waiting.flush();
  expect(written.map(({ rows }) => rows.length)).toEqual([1_000, 1_000, 500]);
});

test('a request that has begun just now waits for its end', async () => {
  const { waiting, written, idsOf } = open([], { nowMs: noon });
  waiting.add(startedRow('young'));
  waiting.add(startedRow('old', { startedAt: noon - 1_000 }));
  waiting.add(startedRow('brief'));
  waiting.add(finishedRow('brief'));
  while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(idsOf(written)).toEqual([['old', 'brief', 'brief']]);
  await waiting.flush();
  expect(idsOf(written).flat()).toContain('young');
});

test('a request is added to its session once it is written', async () => {
  const { waiting, joined } = open();
  const session = sessionMark('ses_1');
  waiting.join({ requestId: 'a', startedAt: noon, session, hasEnded: true });
  await waiting.flush();
  expect(joined).toEqual([]);
  waiting.add(finishedRow('a'));
  await waiting.flush();
  expect(joined).toEqual(['a']);
});
