import { rmSync } from 'node:fs';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { LedgerSpool } from '../../../../server/store/postgres/ledger-spool.ts';
import type { Batch } from '../../../../server/store/postgres/ledger-writer.ts';
import { WaitingBatches } from '../../../../server/store/postgres/waiting-batches.ts';
import type { BegunRow, EndedRow } from '../../../../server/store/rules/rows.ts';
import { SetAsideRows } from '../../../../server/store/sqlite/set-aside-rows.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  capturedExchange,
  finishedRow,
  noon,
  sessionMark,
  silent,
  startedRow,
  temporaryFolder,
} from '../sqlite/records.ts';

let waiting: WaitingBatches | undefined;
const folders: string[] = [];
afterEach(async () => {
  await waiting?.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Accepts batches after the given failures. */
function open(
  failures: Error[] = [],
  {
    nowMs = noon + 60_000,
    spool = null as LedgerSpool | null,
    refuses = (_row: BegunRow | EndedRow): boolean => false,
  } = {},
) {
  const written: Batch[] = [];
  const tried: Batch[] = [];
  const writer = {
    async write(batch: Batch) {
      tried.push(batch);
      const failure = failures.shift();
      if (failure) throw failure;
      if (batch.rows.some(refuses)) throw refused('22P02');
      written.push(batch);
    },
  };
  const options = { writer, setAside: nothingSetAside(), spool, log: silent, flushMs: 5, spillMs: 5, now: () => nowMs };
  waiting = new WaitingBatches(options);
  return { waiting, written, tried };
}

const idsOf = (batches: readonly Batch[]) => batches.map(({ rows }) => rows.map(({ id }) => id));
const away = new Error('connect ECONNREFUSED');
const refused = (code: string) => Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code });
const nothingSetAside = () => new SetAsideRows({ file: null, log: silent });

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

const openSpool = (folder: string, replica = 'replica-1', maxBytes?: number) =>
  LedgerSpool.open({ folder, replica, log: silent, ...(maxBytes !== undefined && { maxBytes }) });

test('what waits is written together', async () => {
  const { waiting, written } = open();
  for (const id of ['a', 'b', 'c']) waiting.add(finishedRow(id));
  expect(waiting.health).toMatchObject({ pending: 3, ok: true });
  await waiting.flush();
  expect(idsOf(written)).toEqual([['a', 'b', 'c']]);
  expect(waiting.health).toMatchObject({ pending: 0 });
});

test('a batch that may have been written is written again unchanged, before later ones', async () => {
  const { waiting, tried } = open([away]);
  waiting.add(finishedRow('a'));
  await waiting.flush();
  expect(waiting.health).toMatchObject({ ok: false, pending: 1, lastError: away.message });
  waiting.add(finishedRow('b'));
  await waiting.flush();
  expect(idsOf(tried)).toEqual([['a'], ['a'], ['b']]);
  expect(tried[1]).toBe(tried[0]);
  expect(waiting.health).toMatchObject({ ok: true, pending: 0, dropped: 0 });
});

test('of a batch that is refused only the refused row is set aside, and its amounts are written without its texts', async () => {
  const { waiting, written } = open([], { refuses: ({ modelAsked }) => modelAsked === 'poison' });
  for (let index = 0; index < 999; index++) waiting.add(finishedRow(`r${index}`));
  waiting.add(finishedRow('bad', { modelAsked: 'poison', costUsd: 3 }));
  await waiting.flush();
  const rows = written.flatMap((batch) => batch.rows);
  expect(rows).toHaveLength(1_000);
  expect(rows.find(({ id }) => id === 'bad')).toMatchObject({ modelAsked: null, costUsd: 3, keyId: 'k1' });
  expect(waiting.health).toMatchObject({ ok: true, pending: 0, dropped: 0, setAside: { rows: 1 } });
});

test('rows that a database refuses before it is away are set aside once, and the others are written when it is back', async () => {
  const { waiting, written } = open([refused('22P02'), away], { refuses: ({ id }) => id === 'b' });
  for (const id of ['a', 'b', 'c']) waiting.add(finishedRow(id));
  await waiting.flush();
  expect(waiting.health).toMatchObject({ ok: false, pending: 3 });
  await waiting.flush();
  expect(new Set(idsOf(written).flat())).toEqual(new Set(['a', 'c']));
  expect(waiting.health).toMatchObject({ ok: true, pending: 0, dropped: 0, setAside: { rows: 1 } });
});

test.each(['42501', '28P01', '3D000', '42P01', '23514'])(
  'a batch that is refused with %s waits, because the cause can be fixed',
  async (code) => {
    const { waiting, written } = open([refused(code)]);
    waiting.add(finishedRow('a'));
    await waiting.flush();
    expect(waiting.health).toMatchObject({ ok: false, pending: 1, dropped: 0, lastError: 'refused' });
    await waiting.flush();
    expect(idsOf(written)).toEqual([['a']]);
  },
);

test('of very many that cannot be written the oldest are dropped and counted', async () => {
  const { waiting } = open([away]);
  for (let index = 0; index < 10_003; index++) waiting.add(finishedRow(`r${index}`));
  expect(waiting.health).toMatchObject({ pending: 10_000, dropped: 3 });
});

test('a request that is dropped counts once, with its beginning and its end', async () => {
  const { waiting } = open([away]);
  for (let index = 0; index < 5_003; index++) {
    const id = `r${index}`;
    waiting.add(startedRow(id));
    waiting.add(finishedRow(id));
  }
  expect(waiting.health).toMatchObject({ pending: 10_000, dropped: 3 });
});

test('a large number is written in batches of a thousand', async () => {
  const { waiting, written } = open();
  for (let index = 0; index < 2_500; index++) waiting.add(finishedRow(`r${index}`));
  await waiting.flush();
  expect(written.map(({ rows }) => rows.length)).toEqual([1_000, 1_000, 500]);
});

test('a request that has begun just now waits for its end', async () => {
  const { waiting, written } = open([], { nowMs: noon });
  waiting.add(startedRow('young'));
  waiting.add(startedRow('old', { startedAt: noon - 1_000 }));
  waiting.add(startedRow('brief'));
  waiting.add(finishedRow('brief'));
  while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(idsOf(written)).toEqual([['old', 'brief', 'brief']]);
  await waiting.flush();
  expect(idsOf(written).flat()).toContain('young');
});

test('a request joins its session in the batch that records it, or in a later one', async () => {
  const { waiting, written } = open([], { nowMs: noon });
  const joined = { requestId: 'young', startedAt: noon, session: sessionMark('ses_1'), hasEnded: false };
  waiting.add(startedRow('young'));
  waiting.add(finishedRow('other'));
  waiting.join(joined);
  while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(written).toMatchObject([{ rows: [{ id: 'other' }], joined: [] }]);
  await waiting.flush();
  expect(written[1]).toMatchObject({ rows: [{ id: 'young' }], joined: [joined] });
});

test('while the database is away, batches wait on disk, and are written in order and once when it is back', async () => {
  const failures = Array.from({ length: 1_000 }, () => away);
  const spool = await openSpool(newFolder());
  const { waiting, written } = open(failures, { spool });
  for (const id of ['a', 'b', 'c']) {
    waiting.add(finishedRow(id));
    await eventually(() => waiting.health.spooled === waiting.health.pending);
  }
  await eventually(() => !waiting.health.ok);
  expect(waiting.health).toMatchObject({ pending: 3, spooled: 3, lastError: away.message });
  failures.length = 0;
  // The last one is removed from the disk before the round of writing that tells of success has ended.
  await eventually(() => waiting.health.ok && waiting.health.pending === 0);
  expect(idsOf(written)).toEqual([['a'], ['b'], ['c']]);
  expect(waiting.health).toMatchObject({ ok: true, spooled: 0, dropped: 0 });
  expect(spool.isEmpty).toBe(true);
});

test('what a replica leaves on disk is written by its next run, as its own', async () => {
  const folder = newFolder();
  const failures = Array.from({ length: 1_000 }, () => away);
  const first = open(failures, { spool: await openSpool(folder) });
  first.waiting.add(finishedRow('a', { captured: 'key' }));
  first.waiting.addCapture({ id: 'a', capturedAt: noon, exchange: capturedExchange('{"q":1}', '{"a":2}') });
  first.waiting.add(startedRow('b'));
  await first.waiting.close();
  const next = open([], { spool: await openSpool(folder, 'replica-2') });
  expect(next.waiting.health).toMatchObject({ pending: 2, spooled: 2 });
  await eventually(() => next.waiting.health.pending === 0);
  expect(next.written).toEqual([{ ...first.tried[0], replica: 'replica-1' }]);
  expect(next.written[0]?.captures).toEqual([
    { id: 'a', capturedAt: noon, exchange: capturedExchange('{"q":1}', '{"a":2}') },
  ]);
  await eventually(async () => (await openSpool(folder)).isEmpty);
});

test('a batch that hangs is moved to disk as well, and is not repeated once it is written', async () => {
  const folder = newFolder();
  const spool = await openSpool(folder);
  const { promise: hanging, resolve: goOn } = Promise.withResolvers<void>();
  const written: Batch[] = [];
  const writer = {
    async write(batch: Batch) {
      await hanging;
      written.push(batch);
    },
  };
  waiting = new WaitingBatches({ writer, setAside: nothingSetAside(), spool, log: silent, flushMs: 5, spillMs: 5 });
  waiting.add(finishedRow('a'));
  await eventually(() => spool.rows === 1);
  waiting.add(finishedRow('b'));
  await eventually(() => spool.rows === 2);
  expect((await openSpool(folder)).rows).toBe(2);
  goOn();
  await eventually(() => waiting?.health.pending === 0);
  expect(idsOf(written)).toEqual([['a'], ['b']]);
  await eventually(async () => (await openSpool(folder)).isEmpty);
});

test('where the disk has no more room, rows wait in memory, and the oldest are dropped and counted', async () => {
  const failures = Array.from({ length: 1_000 }, () => away);
  const { waiting, written } = open(failures, { spool: await openSpool(newFolder(), 'replica-1', 10) });
  for (let index = 0; index < 10_003; index++) waiting.add(finishedRow(`r${index}`));
  await eventually(() => !waiting.health.ok);
  for (let index = 0; index < 1_000; index++) waiting.add(finishedRow(`s${index}`));
  expect(waiting.health).toMatchObject({ spooled: 0, dropped: 3 });
  failures.length = 0;
  await eventually(() => waiting.health.pending === 0);
  expect(idsOf(written).flat()).toHaveLength(11_000);
});
