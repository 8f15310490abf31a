import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type LocalLedger } from '../../../../server/store/sqlite/ledger.ts';
import { finishedRow, healthy, noon, silent, startedRow, temporaryFolder } from './records.ts';

let folder: string;
let file: string;
let database: Database;
let ledger: LocalLedger;
let setAsideFile: string;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'], now: noon });
  folder = temporaryFolder();
  file = join(folder, 'sluice.db');
  database = openSqliteDatabase(file);
  setAsideFile = join(folder, 'set-aside-requests.jsonl');
  ledger = createLedger({ database, setAsideFile, log: silent });
});
afterEach(() => {
  vi.useRealTimers();
  ledger.close();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const countRows = () => database.prepare('SELECT count(*) AS count FROM requests').get()?.count;
const fullDisk = () => Object.assign(new Error('database or disk is full'), { errcode: 13 });

test('a request is written at most 100 ms after it ended, and not before the batch is due', () => {
  ledger.started(startedRow('req_1'));
  ledger.finished(finishedRow('req_1'));
  vi.advanceTimersByTime(20);
  ledger.finished(finishedRow('req_2'));
  vi.advanceTimersByTime(29);
  expect(countRows()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(countRows()).toBe(2);
});

test('nothing is stored of the only attempt of a request that went well, nor of losses where there were none', () => {
  ledger.finished(finishedRow('req_1'));
  ledger.flush();
  expect(database.prepare('SELECT attempts, losses FROM requests').get()).toEqual({ attempts: null, losses: null });
});

test('a request that began just before a batch is due is written with the next one, unless it has ended by then', () => {
  ledger.finished(finishedRow('req_1'));
  vi.advanceTimersByTime(40);
  for (const id of ['req_2', 'req_3']) ledger.started(startedRow(id, { startedAt: Date.now() }));
  vi.advanceTimersByTime(10);
  expect(countRows()).toBe(1);
  ledger.finished(finishedRow('req_2'));
  vi.advanceTimersByTime(50);
  const rows = database.prepare('SELECT id, outcome FROM requests').all();
  expect(rows).toEqual([
    { id: 'req_1', outcome: 'ok' },
    { id: 'req_2', outcome: 'ok' },
    { id: 'req_3', outcome: null },
  ]);
});

test('a request that began at a time to come is written when it is due', () => {
  ledger.started(startedRow('req_1', { startedAt: Date.now() + 60_000 }));
  vi.advanceTimersByTime(50);
  expect(countRows()).toBe(1);
});

test('a full batch does not wait for its time', async () => {
  for (let index = 0; index < 256; index += 1) ledger.finished(finishedRow(`req_${index}`));
  expect(countRows()).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(countRows()).toBe(256);
});

test('a full batch leaves a request that runs to its time, and one that ended meanwhile is written once', async () => {
  ledger.started(startedRow('req_long'));
  ledger.started(startedRow('req_short'));
  for (let index = 0; index < 255; index += 1) ledger.finished(finishedRow(`req_${index}`));
  ledger.finished(finishedRow('req_short'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(countRows()).toBe(256);
  vi.advanceTimersByTime(50);
  expect(countRows()).toBe(257);
  expect((await ledger.listRequests({ outcome: 'running' })).requests).toMatchObject([{ id: 'req_long' }]);
  ledger.finished(finishedRow('req_long'));
  ledger.flush();
  expect(countRows()).toBe(257);
});

test('the log tells once how many requests a crash left running', () => {
  ledger.started(startedRow('req_1'));
  ledger.flush();
  const warnings: string[] = [];
  createLedger({ database, log: { warn: (_, message) => warnings.push(message) } }).close();
  expect(warnings).toEqual(['requests of the run before were interrupted']);
  createLedger({ database, log: { warn: () => expect.unreachable() } }).close();
});

test('rows that could not be written are kept and written when it works again', () => {
  const transaction = vi.spyOn(database, 'transaction').mockImplementation(() => {
    throw fullDisk();
  });
  ledger.started(startedRow('req_1'));
  vi.advanceTimersByTime(50);
  ledger.finished(finishedRow('req_1'));
  vi.advanceTimersByTime(200);
  expect(ledger.health()).toMatchObject({ ok: false, pending: 2, dropped: 0, lastError: 'database or disk is full' });
  transaction.mockRestore();
  vi.advanceTimersByTime(1_000);
  expect(ledger.health()).toEqual(healthy);
  expect(countRows()).toBe(1);
});

test('a file that another process has locked delays rows and loses none', () => {
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  ledger.finished(finishedRow('req_1'));
  vi.advanceTimersByTime(50);
  expect(ledger.health()).toMatchObject({ ok: false, pending: 1, lastError: expect.stringMatching(/locked/) });
  other.exec('COMMIT');
  other.close();
  vi.advanceTimersByTime(1_000);
  expect(ledger.health()).toMatchObject({ ok: true, pending: 0 });
  expect(countRows()).toBe(1);
});

test.each([
  ['full', 'PRAGMA max_page_count = 1', 'PRAGMA max_page_count = 1000000', /full/],
  ['read-only', 'PRAGMA query_only = ON', 'PRAGMA query_only = OFF', /readonly/],
])('a disk that is %s delays rows, and they are written when it no longer is', (_state, begin, end, told) => {
  database.exec(begin);
  const large = 'x'.repeat(256);
  for (let index = 0; index < 500; index += 1) ledger.finished(finishedRow(`req_${index}`, { modelAsked: large }));
  vi.advanceTimersByTime(50);
  expect(ledger.health()).toMatchObject({
    ok: false,
    pending: 500,
    dropped: 0,
    lastError: expect.stringMatching(told),
  });
  database.exec(end);
  vi.advanceTimersByTime(1_000);
  expect(ledger.health()).toMatchObject({ ok: true, pending: 0, dropped: 0 });
  expect(countRows()).toBe(500);
});

test('while writing fails no more than 10,000 rows wait, and the oldest are dropped and counted', () => {
  vi.spyOn(database, 'transaction').mockImplementation(() => {
    throw fullDisk();
  });
  for (let index = 0; index < 10_005; index += 1) ledger.finished(finishedRow(`req_${index}`));
  ledger.flush();
  expect(ledger.health()).toMatchObject({ ok: false, pending: 10_000, dropped: 5 });
  vi.restoreAllMocks();
  ledger.flush();
  expect(database.prepare('SELECT id FROM requests ORDER BY seq LIMIT 1').get()).toEqual({ id: 'req_5' });
});

/** Someone, or a defect, makes the file refuse some rows. */
function refuseRows(condition: string): void {
  database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON requests WHEN ${condition}
    BEGIN SELECT raise(ABORT, 'refused'); END`);
}

test('a row that is refused is set aside alone, in a file, and the ledger has its amounts without its texts', () => {
  refuseRows("new.model_asked = 'poison'");
  for (let index = 0; index < 300; index++) ledger.finished(finishedRow(`req_${index}`));
  ledger.finished(finishedRow('req_bad', { modelAsked: 'poison', costUsd: 3 }));
  ledger.flush();
  expect(countRows()).toBe(301);
  expect(ledger.health()).toEqual({ ...healthy, setAside: { rows: 1, file: setAsideFile } });
  expect(JSON.parse(readFileSync(setAsideFile, 'utf8'))).toMatchObject({
    error: 'refused',
    isCounted: true,
    row: { id: 'req_bad', modelAsked: 'poison', costUsd: 3 },
  });
  const spent = ledger.history.spent('key', 'k1', { startMs: noon, endMs: noon + 900_000 });
  expect(spent.usd).toBeCloseTo(3.3, 9);
});

test('the cost of a row that is refused altogether counts in its budgets, also after a restart, until its key is removed', () => {
  refuseRows("new.id LIKE 'req_bad%'");
  ledger.started(startedRow('req_bad_1'), { usage: { inputTokens: 1 }, costUsd: 40 });
  ledger.finished(finishedRow('req_bad', { costUsd: 3 }));
  ledger.finished(finishedRow('req_good', { costUsd: 5 }));
  ledger.flush();
  const usdOf = (each: LocalLedger, scope: 'key' | 'group', id: string) =>
    each.history.spent(scope, id, { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY }).usd;
  expect(usdOf(ledger, 'key', 'k1')).toBe(8);
  ledger.close();
  // The process was killed while it wrote a line.
  appendFileSync(setAsideFile, '{"row":{"id":');
  const next = createLedger({ database, setAsideFile, log: silent });
  expect(usdOf(next, 'key', 'k1')).toBe(48);
  expect(usdOf(next, 'group', 'default')).toBe(48);
  expect(next.health().setAside).toEqual({ rows: 2, file: setAsideFile });
  next.history.forgetTotal('key', 'k1');
  next.close();
  const last = createLedger({ database, setAsideFile, log: silent });
  expect(usdOf(last, 'key', 'k1')).toBe(0);
  expect(usdOf(last, 'group', 'default')).toBe(48);
  last.close();
});

test('closing writes the waiting rows', () => {
  ledger.finished(finishedRow('req_1'));
  ledger.close();
  expect(countRows()).toBe(1);
});
