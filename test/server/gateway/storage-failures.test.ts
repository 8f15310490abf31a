/** Disk failures do not affect requests: they are served, and what could not be stored is reported. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { endProcess } from '../../support/program.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, 'ledger.sqlite');
  upstream = await startUpstream((_request, response) => json(response, { id: 'resp_1', object: 'response' }));
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = async () => {
  gateway = await startGateway({ folder, config: { providers: [mainProvider(upstream.baseUrl)] } });
};

async function serves(): Promise<void> {
  const reply = await gateway.fetch('/responses', { method: 'POST', body: '{"model":"gpt-x","input":"hi"}' });
  expect([reply.status, await reply.json()]).toEqual([200, { id: 'resp_1', object: 'response' }]);
}

const ledgerHealth = async () => (await gateway.gateway.query({ type: 'status' })).ledger;

async function isRecording(): Promise<void> {
  await eventually(async () => {
    await serves();
    const { ok, pending } = await ledgerHealth();
    return ok && pending < 50;
  });
}

function rowsOnDisk(): number {
  const database = openSqliteDatabase(file);
  const count = Number(database.prepare('SELECT count(*) AS count FROM requests').get()?.count);
  database.close();
  return count;
}

const setAside = () => readdirSync(folder).filter((name) => /set-aside-[\dT-]+$/.test(name));

describe('a database that is damaged while requests are served', () => {
  test('is set aside, a new one is created, and the window is notified', async () => {
    await start();
    await serves();
    await gateway.record();
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(file + suffix, 'damaged '.repeat(10_000));
    await serves();
    const health = await eventually(async () => {
      await serves();
      const found = await ledgerHealth();
      return found.replaced && found.ok ? found : null;
    });
    expect(health.replaced?.movedTo).toContain('.set-aside-');
    expect(setAside()).toHaveLength(1);
    await isRecording();
    await eventually(() => rowsOnDisk() > 0);
    // Jobs that are still in memory are written to the new file.
    const database = openSqliteDatabase(file);
    await eventually(() => database.prepare('SELECT id FROM jobs').get()?.id === 'resp_1');
    database.close();
  });

  test('at the start is set aside, and that is reported', async () => {
    writeFileSync(file, 'damaged '.repeat(10_000));
    await start();
    await isRecording();
    expect((await ledgerHealth()).replaced?.movedTo).toContain('.set-aside-');
    expect(setAside()).toHaveLength(1);
  });
});

test('a database that is removed while requests are served is created again', async () => {
  await start();
  await serves();
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  await eventually(async () => {
    await serves();
    return (await ledgerHealth()).replaced;
  });
  await isRecording();
  await eventually(() => rowsOnDisk() > 0);
});

describe('a database that another process holds', () => {
  /**
   * Locks the file until the process is ended: for writing, or exclusively, which requires that no other process has it
   * open.
   */
  async function lock(mode: 'NORMAL' | 'EXCLUSIVE'): Promise<ChildProcess> {
    const program = `
      const { DatabaseSync } = require('node:sqlite');
      const database = new DatabaseSync(process.argv[1], { timeout: 10_000 });
      database.exec('PRAGMA locking_mode = ${mode}; BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS held (a); INSERT INTO held VALUES (1)');
      process.stdout.write('held');
      setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['-e', program, file], { stdio: ['ignore', 'pipe', 'ignore'] });
    holders.push(child);
    await once(child.stdout, 'data');
    return child;
  }

  const holders: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of holders.splice(0)) await endProcess(child, 'SIGKILL');
  });

  test('delays what is recorded and loses nothing', async () => {
    await start();
    const holder = await lock('NORMAL');
    await serves();
    const health = await eventually(async () => {
      const found = await ledgerHealth();
      return found.ok ? null : found;
    });
    expect(health).toMatchObject({ dropped: 0, lastError: expect.stringMatching(/locked/), replaced: null });
    await serves();
    await endProcess(holder, 'SIGKILL');
    await eventually(() => rowsOnDisk() === 2);
    expect((await ledgerHealth()).ok).toBe(true);
  });

  test('does not keep the gateway from starting, and the window says what it cannot show', async () => {
    openSqliteDatabase(file).close();
    const holder = await lock('EXCLUSIVE');
    await start();
    await serves();
    expect(await ledgerHealth()).toMatchObject({ ok: false, lastError: expect.stringMatching(/locked/) });
    await expect(gateway.gateway.query({ type: 'requests' })).rejects.toMatchObject({ code: 'storage_unavailable' });
    const unknown = await gateway.fetch('/videos/video_of_before');
    expect([unknown.status, ((await unknown.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'storage_unavailable',
    ]);
    await endProcess(holder, 'SIGKILL');
    await eventually(() => rowsOnDisk() === 2);
    expect((await ledgerHealth()).ok).toBe(true);
  });
});
