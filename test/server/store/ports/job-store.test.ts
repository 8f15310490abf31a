import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Job } from '../../../../server/store/ports/kept-stores.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createJobStore, type SqliteJobStore } from '../../../../server/store/sqlite/job-store.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { createSweepClock } from '../../../../server/store/sqlite/retention.ts';
import { clockAt, finishedRow, silent, temporaryFolder } from '../sqlite/records.ts';

let folder: string;
let database: Database;
let store: SqliteJobStore;
beforeEach(() => {
  folder = temporaryFolder();
  database = openSqliteDatabase(join(folder, 'sluice.db'));
  store = createJobStore({ database, log: silent });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  store.close();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const job = (id: string, more: Partial<Job> = {}): Job => ({
  kind: 'video',
  id,
  groupId: 'default',
  providerId: 'main',
  credentialId: 'c1',
  model: 'sora-2',
  keyId: 'k1',
  createdAt: 1_000,
  ...more,
});
const countRows = () => database.prepare('SELECT count(*) AS count FROM jobs').get()?.count;

/** Simulates a restart: keeps the file, and nothing that was in memory. */
function restart() {
  store.close();
  database.close();
  database = openSqliteDatabase(join(folder, 'sluice.db'));
  store = createJobStore({ database, log: silent });
}

test('a job is found at once, and as it was after a restart', () => {
  const made = job('video_1', { credentialId: null, model: null, keyId: null });
  store.remember(made);
  expect(store.find('video', 'video_1', 'default')).toEqual(made);
  restart();
  expect(store.find('video', 'video_1', 'default')).toEqual(made);
});

test('what a path may name is found as the group’s own of any kind, as another’s, or not at all', () => {
  store.remember(job('file-1', { kind: 'object' }));
  store.remember(job('video_1'));
  store.remember(job('file-2', { kind: 'object', groupId: 'other' }));
  store.remember(job('file-2', { kind: 'object' }));
  const seenBy = (groupId: string) =>
    ['file-1', 'video_1', 'file-2', 'file-3'].map((id) => {
      const found = store.findAny(id, groupId);
      return typeof found === 'object' ? `${found.kind} of ${found.groupId}` : found;
    });
  const all = [
    ['object of default', 'video of default', 'object of default', undefined],
    ['foreign', 'foreign', 'object of other', undefined],
    ['foreign', 'foreign', 'foreign', undefined],
  ];
  expect(countRows()).toBe(0);
  expect(['default', 'other', 'third'].map(seenBy)).toEqual(all);
  restart();
  expect(['default', 'other', 'third'].map(seenBy)).toEqual(all);
});

test('what its provider calls it is kept as well, where that is another name', () => {
  const made = job('resp_1', { kind: 'response', upstreamId: 'resp_2' });
  store.remember(made);
  restart();
  expect(store.find('response', 'resp_1', 'default')).toEqual(made);
});

test('another group does not find it, nor another kind', () => {
  store.remember(job('video_1'));
  for (const restarted of [false, true]) {
    if (restarted) restart();
    expect(store.find('video', 'video_1', 'others')).toBeUndefined();
    expect(store.find('response', 'video_1', 'default')).toBeUndefined();
  }
});

test('two groups may have jobs of the same id at different providers', () => {
  store.remember(job('1', { groupId: 'a', providerId: 'p1' }));
  store.remember(job('1', { groupId: 'b', providerId: 'p2' }));
  restart();
  expect(store.find('video', '1', 'a')?.providerId).toBe('p1');
  expect(store.find('video', '1', 'b')?.providerId).toBe('p2');
});

test('a durable job is on the disk before remember returns, any other at most 100 ms later', () => {
  vi.useFakeTimers();
  store.remember(job('response_1', { kind: 'response' }));
  expect(countRows()).toBe(0);
  vi.advanceTimersByTime(50);
  expect(countRows()).toBe(1);
  store.remember(job('video_1'), { durable: true });
  expect(countRows()).toBe(2);
});

test('what cannot be written is found all the same, and written when it works again', () => {
  vi.useFakeTimers();
  const warn = vi.fn();
  const careful = createJobStore({ database, log: { warn } });
  vi.spyOn(database, 'transaction').mockImplementation(() => {
    throw new Error('disk is full');
  });
  careful.remember(job('video_1'), { durable: true });
  expect(careful.find('video', 'video_1', 'default')).toBeDefined();
  expect(warn).toHaveBeenCalledWith({ error: 'disk is full', waiting: 1 }, 'jobs cannot be written');
  vi.restoreAllMocks();
  vi.advanceTimersByTime(1_000);
  expect(countRows()).toBe(1);
  careful.close();
});

test('a new object is remembered also while the disk cannot be read', () => {
  const unreadable = () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  const prepare = database.prepare.bind(database);
  vi.spyOn(database, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    return sql.endsWith('WHERE id = ?') ? { ...statement, all: unreadable } : statement;
  });
  const careful = createJobStore({ database, log: silent });
  careful.rememberNew(job('file-1', { kind: 'object' }));
  expect(careful.find('object', 'file-1', 'default')).toBeDefined();
  careful.close();
});

test('a job that memory has no room for any more is found on the disk', () => {
  store.remember(job('first'));
  for (let index = 0; index < 5_000; index += 1) store.remember(job(`video_${index}`));
  expect(store.find('video', 'first', 'default')?.id).toBe('first');
  store.flush();
  expect(store.find('video', 'video_0', 'default')?.id).toBe('video_0');
});

test('a job that is remembered again is the newer one', () => {
  store.remember(job('video_1', { credentialId: 'c1' }));
  store.flush();
  store.remember(job('video_1', { credentialId: 'c2' }));
  restart();
  expect(store.find('video', 'video_1', 'default')?.credentialId).toBe('c2');
});

test('a forgotten job is found no more, written or not', () => {
  store.remember(job('video_1'), { durable: true });
  store.remember(job('video_2'));
  store.forget('video', 'video_1', 'default');
  store.forget('video', 'video_2', 'default');
  store.forget('video', 'never', 'default');
  restart();
  expect(store.find('video', 'video_1', 'default')).toBeUndefined();
  expect(store.find('video', 'video_2', 'default')).toBeUndefined();
});

test('a job is forgotten when it has not been used for long enough, and in memory too', async () => {
  const day = 86_400_000;
  let now = 1_000 * day;
  const sweepClock = clockAt(() => now);
  const open = () => createJobStore({ database, log: silent, retentionDays: () => 30, sweepClock });
  store.close();
  store = open();
  for (let index = 0; index < 600; index += 1) store.remember(job(`video_${index}`, { createdAt: now }));
  now += 29 * day;
  expect(store.find('video', 'video_7', 'default')).toMatchObject({ id: 'video_7' });
  expect(await store.sweep()).toBe(0);
  now += 2 * day;
  expect(await store.sweep()).toBe(599);
  expect(store.find('video', 'video_8', 'default')).toBeUndefined();
  expect(store.find('video', 'video_7', 'default')).toMatchObject({ createdAt: 1_000 * day });
  now += 29 * day;
  expect(await store.sweep()).toBe(0);
  expect(countRows()).toBe(1);
  store.close();
  store = open();
  now += 2 * day;
  expect(await store.sweep()).toBe(1);
  expect(store.find('video', 'video_7', 'default')).toBeUndefined();
});

test('a clock that is a year ahead or behind for a while forgets no job', async () => {
  const day = 86_400_000;
  let wallMs = 1_000 * day;
  const sweepClock = createSweepClock(database, { wallMs: () => wallMs });
  store.close();
  store = createJobStore({ database, log: silent, sweepClock });
  store.remember(job('video_1'));
  wallMs += 365 * day;
  expect(await store.sweep()).toBe(0);
  wallMs -= 730 * day;
  store.remember(job('video_2'));
  expect(await store.sweep()).toBe(0);
  wallMs += 365 * day;
  expect(await store.sweep()).toBe(0);
  expect(store.find('video', 'video_2', 'default')).toMatchObject({ id: 'video_2' });
});

test('polling a job writes nothing until a day has passed', () => {
  store.remember(job('video_1'), { durable: true });
  const write = vi.spyOn(database, 'transaction');
  for (let index = 0; index < 100; index += 1) store.find('video', 'video_1', 'default');
  store.flush();
  expect(write).not.toHaveBeenCalled();
});

test('a job that owes is settled once, and owes again after a restart unless the ledger has noted what it used', () => {
  const owed = { usage: { inputTokens: 7 }, costUsd: 0.5 };
  store.remember(job('resp_1', { kind: 'response', owed }));
  store.remember(job('resp_2', { kind: 'response' }));
  expect(store.owing().map(({ id }) => id)).toEqual(['resp_1']);
  const { kind, id, groupId } = job('resp_1', { kind: 'response' });
  expect(store.settle({ kind, id, groupId })?.owed).toEqual(owed);
  expect(store.settle({ kind, id, groupId })).toBeUndefined();
  expect(store.find(kind, id, groupId)).not.toHaveProperty('owed');
  expect(store.owing()).toEqual([]);
  restart();
  expect(store.owing()).toMatchObject([{ id: 'resp_1', owed }]);
  const ledger = createLedger({ database, log: silent });
  store.settle({ kind, id, groupId });
  ledger.finished(finishedRow('req_1'), { kind, groupId, id });
  ledger.close();
  restart();
  expect(store.owing()).toEqual([]);
  expect(store.settle({ kind, id, groupId })).toBeUndefined();
});
