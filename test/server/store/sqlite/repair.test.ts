/** Repairing what earlier versions derived from wrong sequence numbers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type Ledger } from '../../../../server/store/sqlite/ledger.ts';
import { createRepair, repairedPercent } from '../../../../server/store/sqlite/repair.ts';
import { type Contents, contentsOf, everyMs, idOf, wordOf, writeMisplaced } from './misplaced.ts';
import { capturedExchange, clockAt, finishedRow, noon, silent, startedRow, temporaryFolder } from './records.ts';

const requests = 3_000;
const derived = ['captures', 'earlier_names', 'error_words', 'facts', 'request_names', 'sessions'];

let folder: string;
let file: string;
let right: Contents;
const closing: (() => void)[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  right = await writeMisplaced(join(folder, 'misplaced.sqlite'), requests);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  file = copyOf('ledger');
});
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

function open(path = file): Database {
  const database = openSqliteDatabase(path);
  expect(database.notice).toBeNull();
  closing.push(() => database.close());
  return database;
}

function serve(database: Database, settings?: () => Parameters<typeof limits>[0]): Ledger {
  const clock = clockAt(() => noon + requests * everyMs);
  const ledger = createLedger({
    database,
    log: silent,
    now: () => noon + requests * everyMs,
    sweepClock: clock,
    ...(settings && { settings: () => limits(settings()) }),
  });
  closing.push(() => ledger.close());
  return ledger;
}

const limits = ({ retentionRows }: { retentionRows: number }) => ({
  retentionDays: 90,
  captureRetentionDays: 7,
  captureBytes: 1e9,
  retentionRows,
});

async function repair(database: Database): Promise<void> {
  const repairing = createRepair(database, silent);
  closing.push(() => repairing.stop());
  await repairing.run();
}

async function found(ledger: Ledger, search: string): Promise<string[]> {
  return (await ledger.listRequests({ search })).requests.map(({ id }) => id);
}

test('makes a ledger in which everything derived was wrong equal to one without the fault', async () => {
  const database = open();
  expect(contentsOf(database)).not.toEqual(right);
  await repair(database);
  expect(contentsOf(database)).toEqual(right);
  expect(repairedPercent(database)).toBeNull();
});

test('changes nothing but what was derived', async () => {
  const before = contentsOf(open());
  const database = open();
  await repair(database);
  const after = contentsOf(database);
  for (const table of Object.keys(before).filter((name) => !derived.includes(name))) {
    expect(after[table], table).toEqual(before[table]);
  }
  const without = (table: string, column: string, { [table]: rows = [] }: Contents) =>
    rows.map((row) => ({ ...row, [column]: null }));
  expect(without('captures', 'request_seq', after)).toEqual(without('captures', 'request_seq', before));
  expect(without('sessions', 'last_seq', after)).toEqual(without('sessions', 'last_seq', before));
});

test('leaves the same behind when it is run twice, and when it is killed in between again and again', async () => {
  const twice = open(copyOf('twice'));
  await repair(twice);
  const repaired = contentsOf(twice);
  await repair(twice);
  expect(contentsOf(twice)).toEqual(repaired);
  twice.exec("INSERT INTO facts VALUES ('last request to repair', (SELECT max(seq) FROM requests))");
  twice.exec("UPDATE facts SET value = value + (SELECT max(seq) + 1 FROM requests) WHERE name = 'first named request'");
  await repair(twice);
  expect(contentsOf(twice)).toEqual(repaired);

  const killed = copyOf('killed');
  let kills = 0;
  while ((await repairUntilKilled(killed, 4)) === 'SIGKILL') kills += 1;
  expect(kills).toBeGreaterThan(3);
  expect(contentsOf(open(killed))).toEqual(repaired);
});

function copyOf(name: string): string {
  const copy = join(folder, `${name}.sqlite`);
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  copyFileSync(join(folder, 'misplaced.sqlite'), copy);
  return copy;
}

/** The child is killed within a transaction, after this many others. Resolves with what ended it; null: it was done. */
async function repairUntilKilled(path: string, transactions: number): Promise<NodeJS.Signals | null> {
  const program = join(import.meta.dirname, 'repair-child.ts');
  const child = spawn(process.execPath, [program, path, String(transactions)], { stdio: 'inherit' });
  const [code, signal] = await once(child, 'exit');
  if (signal === null) expect(code).toBe(0);
  return signal;
}

test('never finds a wrong request meanwhile, and says how far it is', async () => {
  const database = open();
  const ledger = serve(database);
  const percents = new Set<number | null>();
  for (let turn = 0; !percents.has(null); turn++) {
    const index = 1 + (turn % (requests / 5)) * 5;
    const { requests: hits, repairedPercent: percent } = await ledger.listRequests({ search: wordOf(index) });
    percents.add(percent);
    await setImmediate();
    if (hits.length > 0) expect(hits).toMatchObject([{ id: idOf(index) }]);
  }
  expect(percents.size).toBeGreaterThan(1);
  expect(Math.max(...[...percents].map(Number))).toBeLessThan(100);
  expect((await ledger.listRequests({ search: wordOf(1) })).repairedPercent).toBeNull();
});

test('names the key, model and status of every request meanwhile', async () => {
  const ledger = serve(open());
  const { repairedPercent: percent } = await ledger.listRequests({ search: wordOf(1), limit: 1 });
  expect(percent).not.toBeNull();
  expect((await ledger.countRequests({ keyId: 'k0' })).requests).toBe(requests / 40);
  expect((await ledger.countRequests({ status: '5xx' })).requests).toBe(Math.ceil(requests / 19));
  expect(await ledger.listNames('model')).toEqual(['gpt-x', 'model-0', 'model-1', 'model-2', 'model-3', 'model-4']);
});

test('goes on beside requests that begin and end meanwhile, which are right', async () => {
  const database = open();
  const ledger = serve(database);
  const late: string[] = [];
  for (let count = 0; repairedPercent(database) !== null; count++) {
    const id = `req_late${count}`;
    late.push(id);
    ledger.started(startedRow(id, { startedAt: noon + requests * everyMs, keyId: 'late' }));
    ledger.flush();
    const [earlier] = late.slice(-3);
    if (earlier) end(ledger, earlier);
    await setImmediate();
  }
  for (const id of late.slice(-2)) end(ledger, id);
  expect(late.length).toBeGreaterThan(5);
  const all = database.prepare(
    'SELECT count(*) AS wrong FROM captures JOIN requests USING (id) WHERE request_seq IS NOT requests.seq',
  );
  expect((await ledger.countRequests({ keyId: 'late' })).requests).toBe(late.length);
  expect(all.get()).toEqual({ wrong: 0 });
  expect(await found(ledger, late.at(-1)?.replace('req_', 'about-') ?? '')).toEqual([late.at(-1)]);
});

const ended = new Set<string>();
function end(ledger: Ledger, id: string): void {
  if (ended.has(id)) return;
  ended.add(id);
  ledger.finished(finishedRow(id, { startedAt: noon + requests * everyMs, keyId: 'late', captured: 'group' }));
  ledger.capture(id, capturedExchange(`{"content":"${id.replace('req_', 'about-')}"}`));
}

test('goes on while old requests are deleted, and then says nothing wrong about those that are gone', async () => {
  const database = open();
  let retentionRows = 2_000;
  const ledger = serve(database, () => ({ retentionRows }));
  for (; repairedPercent(database) !== null; retentionRows = Math.max(500, retentionRows - 300)) await ledger.sweep();
  await ledger.sweep();
  const first = requests - 500;
  expect((await ledger.countRequests({})).requests).toBe(500);
  expect(await found(ledger, wordOf(first - 7))).toEqual([]);
  expect(await found(ledger, wordOf(first + 1))).toEqual([idOf(first + 1)]);
  const strays = database.prepare(
    `SELECT count(*) AS strays FROM captures LEFT JOIN requests ON requests.seq = request_seq
     WHERE request_seq >= (SELECT min(seq) FROM requests) AND requests.id IS NOT captures.id`,
  );
  expect(strays.get()).toEqual({ strays: 0 });
  const sessions = database.prepare(
    'SELECT count(*) AS wrong FROM sessions WHERE last_seq IS NOT (SELECT max(seq) FROM requests WHERE session = sessions.id)',
  );
  expect(sessions.get()).toEqual({ wrong: 0 });
});
