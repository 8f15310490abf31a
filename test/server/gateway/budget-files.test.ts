/** Hard budgets rely on two files, the ledger and the sums stored beside it. Tests the loss of one or both. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { budgetMigrations } from '../../../server/store/sqlite/schema.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway | undefined;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
  upstream = await startUpstream((_request, response) =>
    json(response, { id: 'c', object: 'chat.completion', model: 'gpt-x', choices: [], usage }),
  );
});
afterEach(async () => {
  await stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const periods = ['day', 'week', 'month', 'total'] as const;

async function start(inFolder = folder): Promise<void> {
  await stop();
  const keys = periods.map((per) => ({
    id: per,
    group: 'default',
    hash: hashOf(`${testKey} ${per}`),
    limits: { budgets: [{ unit: 'tokens' as const, amount: 150, per, hard: true }] },
  }));
  gateway = await startGateway({ folder: inFolder, config: { providers: [mainProvider(upstream.baseUrl)], keys } });
}

async function stop(): Promise<void> {
  const running = gateway;
  gateway = undefined;
  await running?.stop();
}

async function statusesOf(): Promise<number[]> {
  const body = JSON.stringify({ model: 'gpt-x', max_tokens: 1, messages: [] });
  const statuses: number[] = [];
  for (const per of periods) {
    const headers = { authorization: `Bearer ${testKey} ${per}` };
    const response = await gateway?.fetch('/chat/completions', { method: 'POST', headers, body });
    await response?.text();
    statuses.push(response?.status ?? 0);
  }
  return statuses;
}

const all = (status: number) => periods.map(() => status);

async function spend(): Promise<void> {
  expect(await statusesOf()).toEqual(all(200));
  expect(await statusesOf()).toEqual(all(200));
  expect(await statusesOf()).toEqual(all(429));
}

function damage(name: string, inFolder = folder): void {
  for (const suffix of ['-wal', '-shm']) rmSync(join(inFolder, name + suffix), { force: true });
  writeFileSync(join(inFolder, name), 'damaged '.repeat(10_000));
}

const ledgerHealth = async () => (await gateway?.gateway.query({ type: 'status' }))?.ledger;

test('a spent budget stays spent if the ledger is damaged, and the damage is reported', async () => {
  await start();
  await spend();
  await stop();
  damage('ledger.sqlite');
  await start();
  expect(await statusesOf()).toEqual(all(429));
  expect(await ledgerHealth()).toMatchObject({ replaced: { budgetsAreLost: false } });
});

test('a spent budget stays spent where the ledger is removed', async () => {
  await start();
  await spend();
  await stop();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `ledger.sqlite${suffix}`), { force: true });
  await start();
  expect(await statusesOf()).toEqual(all(429));
});

test('lost sums are computed again from the ledger, as on the first start of a version that stores them', async () => {
  await start();
  await spend();
  await stop();
  damage('budgets.sqlite');
  await start();
  // The sums are created at the start, without a request.
  const sums = openSqliteDatabase(join(folder, 'budgets.sqlite'), budgetMigrations);
  await eventually(() => sums.prepare('SELECT count(*) AS count FROM budget_sums').get()?.count === periods.length);
  sums.close();
  await stop();
  damage('ledger.sqlite');
  await start();
  expect(await statusesOf()).toEqual(all(429));
});

test('a program that is killed keeps what was spent also where its ledger is damaged then', async () => {
  await start();
  await spend();
  // The files as a kill -9 leaves them after the last batch was written.
  await gateway?.gateway.query({ type: 'requests' });
  const left = join(folder, 'left');
  mkdirSync(left);
  for (const suffix of ['', '-wal']) {
    cpSync(join(folder, `budgets.sqlite${suffix}`), join(left, `budgets.sqlite${suffix}`));
  }
  damage('ledger.sqlite', left);
  await start(left);
  expect(await statusesOf()).toEqual(all(429));
});

test('a ledger that cannot be read opens no budget', async () => {
  await start();
  await spend();
  await stop();
  rmSync(join(folder, 'ledger.sqlite'));
  mkdirSync(join(folder, 'ledger.sqlite'));
  await start();
  expect(await statusesOf()).toEqual(all(429));
});

test('while neither file can be read, hard budgets let nothing pass', async () => {
  for (const name of ['ledger.sqlite', 'budgets.sqlite']) mkdirSync(join(folder, name));
  await start();
  expect(await statusesOf()).toEqual(all(503));
});

test('if both files are damaged, budgets count from then on, and that is reported', async () => {
  await start();
  await spend();
  await stop();
  damage('ledger.sqlite');
  damage('budgets.sqlite');
  await start();
  await spend();
  expect(await ledgerHealth()).toMatchObject({ replaced: { budgetsAreLost: true } });
});
