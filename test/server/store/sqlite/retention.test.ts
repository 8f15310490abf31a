import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { createSweepClock, type RetentionLimits } from '../../../../server/store/sqlite/retention.ts';
import { capturedExchange, clockAt, finishedRow, noon, silent } from './records.ts';

const day = 86_400_000;
let database: Database;
beforeEach(() => {
  database = openSqliteDatabase(':memory:');
});
afterEach(() => {
  vi.useRealTimers();
  database.close();
});

const roomy: RetentionLimits = { retentionDays: 90, retentionRows: 1e6, captureRetentionDays: 90, captureBytes: 1e9 };
const open = (settings: Partial<RetentionLimits>) =>
  createLedger({ database, log: silent, now: () => noon, settings: () => ({ ...roomy, ...settings }) });
const idsLeft = () =>
  database
    .prepare('SELECT id FROM requests ORDER BY seq')
    .all()
    .map((row) => row.id);

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

test('with the requests their names are deleted, however many there are', async () => {
  const ledger = open({ retentionRows: 1 });
  for (let index = 0; index < 3_000; index += 1)
    ledger.finished(finishedRow(`req_${index}`, { modelAsked: `m${index}`, modelServed: `m${index}` }));
  ledger.flush();
  await ledger.sweep();
  const names = database.prepare("SELECT count(*) AS count FROM request_names WHERE dimension = 'model'");
  // Those of the last block, which has a request.
  expect(names.get()?.count).toBeLessThan(256);
  ledger.close();
});

test('captured bodies have days of their own', async () => {
  let now = noon - 3 * day;
  const settings = () => ({ ...roomy, captureRetentionDays: 1, captureBytes: 1e9 });
  const ledger = createLedger({ database, log: silent, now: () => now, sweepClock: clockAt(() => now), settings });
  for (let index = 0; index < 15; index += 1) ledger.capture(`old_${index}`, capturedExchange('a'));
  ledger.flush();
  now = noon;
  ledger.capture('young', capturedExchange('b'));
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
  const oneTurn = () => new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(60_000);
  await oneTurn();
  ledger.close();
  const left = idsLeft().length;
  await oneTurn();
  expect(idsLeft()).toHaveLength(left);
  expect(left).toBeLessThan(2_000);
  expect(left).toBeGreaterThan(1);
  expect(vi.getTimerCount()).toBe(0);
});

/** A ledger with a wall clock and a steady clock that the test advances. Rows are dated by the wall clock. */
function openByClock(settings: Partial<RetentionLimits> = {}) {
  const clock = { wallMs: noon, steadyMs: 0 };
  const now = () => clock.wallMs;
  let count = 0;
  const open = () => {
    const sweepClock = createSweepClock(database, { wallMs: now, steadyMs: () => clock.steadyMs });
    return createLedger({ database, log: silent, now, sweepClock, settings: () => ({ ...roomy, ...settings }) });
  };
  let ledger = open();
  return {
    clock,
    get ledger() {
      return ledger;
    },
    restart() {
      ledger.close();
      ledger = open();
    },
    record(rows: number) {
      for (let index = 0; index < rows; index += 1) {
        const id = `req_${count++}`;
        ledger.finished(finishedRow(id, { startedAt: clock.wallMs }));
        ledger.capture(id, capturedExchange('a'));
      }
      ledger.flush();
    },
    /** Advances a quarter of an hour, the time between two sweeps. */
    sweepLater() {
      clock.wallMs += 900_000;
      clock.steadyMs += 900_000;
      return ledger.sweep();
    },
  };
}

const countCaptures = () => Number(database.prepare('SELECT count(*) AS count FROM captures').get()?.count);

test('a clock that was behind for a while deletes no request beside those', async () => {
  const { clock, ledger, record, sweepLater } = openByClock();
  record(100);
  clock.wallMs -= 200 * day;
  record(300);
  clock.wallMs += 200 * day;
  record(100);
  expect(await sweepLater()).toBe(0);
  expect(idsLeft()).toHaveLength(500);
  expect(countCaptures()).toBe(500);
  ledger.close();
});

test('a clock that is a year ahead for a while deletes neither requests nor sums of usage', async () => {
  const fake = openByClock();
  const { clock, record } = fake;
  record(10);
  clock.wallMs += 400 * day;
  fake.restart();
  record(10);
  expect(await fake.sweepLater()).toBe(0);
  clock.wallMs -= 400 * day;
  fake.restart();
  record(10);
  expect(await fake.sweepLater()).toBe(0);
  expect(idsLeft()).toHaveLength(30);
  expect(countCaptures()).toBe(30);
  const [sums] = await fake.ledger.summarizeUsage({ by: 'provider' });
  expect(sums).toMatchObject({ requests: 30 });
  fake.ledger.close();
});

test('data dated by a clock that was ahead delays the deletion of older data only for a limited time', async () => {
  const fake = openByClock();
  const { clock, record, ledger } = fake;
  record(2);
  clock.wallMs += 400 * day;
  record(2);
  clock.wallMs -= 400 * day;
  record(2);
  for (let passed = 0; passed < 92; passed += 1) {
    clock.wallMs += day;
    clock.steadyMs += day;
  }
  record(2);
  expect(await fake.sweepLater()).toBe(6);
  expect(idsLeft()).toEqual(['req_6', 'req_7']);
  ledger.close();
});

test('after a long time without Sluice, old data is deleted within hours', async () => {
  const fake = openByClock();
  fake.record(5);
  fake.clock.wallMs += 100 * day;
  fake.restart();
  fake.record(5);
  expect(await fake.sweepLater()).toBe(0);
  for (let sweeps = 0; sweeps < 100; sweeps += 1) await fake.sweepLater();
  expect(idsLeft()).toHaveLength(5);
  fake.ledger.close();
});
