import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createLedger, type LedgerSettings } from '../../../server/ledger/ledger.ts';
import { finishedRow, noon, silent } from './records.ts';

const day = 86_400_000;
let database: Database;
beforeEach(() => {
  database = openDatabase(':memory:');
});
afterEach(() => {
  vi.useRealTimers();
  database.close();
});

const roomy: LedgerSettings = { retentionDays: 90, retentionRows: 1e6, captureMaxBytes: 100, captureRetentionDays: 90 };
const open = (settings: Partial<LedgerSettings>) =>
  createLedger({ database, log: silent, now: () => noon, settings: () => ({ ...roomy, ...settings }) });
const idsLeft = () =>
  database
    .prepare('SELECT id FROM requests ORDER BY seq')
    .all()
    .map((row) => row.id);

test('requests and sums older than the days to keep are deleted, younger ones are not', async () => {
  const ledger = open({ retentionDays: 2 });
  for (const age of [4, 3, 1, 0]) ledger.finished(finishedRow(`req_${age}`, { startedAt: noon - age * day }));
  ledger.flush();
  expect(await ledger.sweep()).toBe(2);
  expect(idsLeft()).toEqual(['req_1', 'req_0']);
  expect((await ledger.summarizeUsage({ by: 'day' })).map((row) => row.name)).toEqual(['2026-11-19', '2026-11-20']);
  expect(await ledger.summarizeUsage({ by: 'provider' })).toMatchObject([{ name: 'main', requests: 2 }]);
  ledger.close();
});

test('beyond the number of rows to keep the oldest are deleted, and their sums are kept', async () => {
  const ledger = open({ retentionRows: 3 });
  for (let index = 0; index < 1_205; index += 1)
    ledger.finished(finishedRow(`req_${index}`, { startedAt: noon + index }));
  ledger.flush();
  expect(await ledger.sweep()).toBe(1_202);
  expect(idsLeft()).toEqual(['req_1202', 'req_1203', 'req_1204']);
  expect(await ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ requests: 1_205 }]);
  expect(await ledger.sweep()).toBe(0);
  ledger.close();
});

test('captured bodies have days of their own', async () => {
  let now = noon - 3 * day;
  const settings = () => ({ ...roomy, captureRetentionDays: 1 });
  const ledger = createLedger({ database, log: silent, now: () => now, settings });
  for (let index = 0; index < 15; index += 1) ledger.capture(`old_${index}`, { request: Buffer.from('a') });
  ledger.flush();
  now = noon;
  ledger.capture('young', { request: Buffer.from('b') });
  ledger.finished(finishedRow('req_1', { startedAt: noon - 3 * day }));
  ledger.flush();
  await ledger.sweep();
  expect(database.prepare('SELECT id FROM captures').all()).toEqual([{ id: 'young' }]);
  expect(idsLeft()).toEqual(['req_1']);
  ledger.close();
});

test('the ledger sweeps by itself, and ends a sweep when it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const ledger = open({ retentionRows: 1 });
  for (let index = 0; index < 2_000; index += 1) ledger.finished(finishedRow(`req_${index}`));
  ledger.flush();
  vi.advanceTimersByTime(60_000);
  ledger.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(idsLeft()).toHaveLength(1_750);
  expect(vi.getTimerCount()).toBe(0);
});
