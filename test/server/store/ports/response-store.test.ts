import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeptId, responseOfItem } from '../../../../server/apis/translation/kept-reasoning.ts';
import { hourMs } from '../../../../server/contract/units.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { keptResponseMigrations, SqliteResponseStore } from '../../../../server/store/sqlite/response-store.ts';
import { clockAt, noon, silent, temporaryFolder } from '../sqlite/records.ts';

let folder: string;
let database: Database;
let store: SqliteResponseStore;
let nowMs: number;
let settings: { retentionHours: number; bytesPerGroup: number };

function open(): void {
  database = openSqliteDatabase(join(folder, 'responses.sqlite'), keptResponseMigrations);
  store = new SqliteResponseStore({
    database,
    log: silent,
    sweepClock: clockAt(() => nowMs),
    settings: () => settings,
  });
}

function restart(): void {
  store.close();
  database.close();
  open();
}

beforeEach(() => {
  folder = temporaryFolder();
  nowMs = noon;
  settings = { retentionHours: 24, bytesPerGroup: 100_000 };
  open();
});
afterEach(() => {
  store.close();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const response = (id: string, more: object = {}) => ({
  id,
  groupId: 'default',
  response: '{"id":"x"}',
  input: '"Hi"',
  ...more,
});
const countRows = () => database.prepare('SELECT count(*) AS count FROM kept_responses').get()?.count;

test('a response is found at once and after a restart, by its own group alone', () => {
  store.keep(response('a'));
  expect(store.find('a', 'default')).toEqual({ ...response('a'), createdAt: noon });
  restart();
  expect(store.find('a', 'default')).toEqual({ ...response('a'), createdAt: noon });
  expect(store.find('a', 'other')).toBeUndefined();
});

test('a deleted response is gone, written or not', () => {
  store.keep(response('a'));
  store.keep(response('b'));
  store.forget('a', 'default');
  restart();
  expect(store.find('a', 'default')).toBeUndefined();
  store.forget('b', 'other');
  expect(store.find('b', 'default')).toBeDefined();
  store.forget('b', 'default');
  expect(store.find('b', 'default')).toBeUndefined();
});

test('a response expires, and is then deleted', () => {
  store.keep(response('a'));
  restart();
  nowMs += 24 * hourMs;
  expect(store.find('a', 'default')).toBeDefined();
  nowMs += 1;
  expect(store.find('a', 'default')).toBeUndefined();
  expect(countRows()).toBe(1);
  store.sweep();
  expect(countRows()).toBe(0);
});

test('the oldest of a group give way when it has too many bytes, and no other group’s', () => {
  const input = JSON.stringify('x'.repeat(4_000));
  store.keep(response('other', { groupId: 'other', input }));
  for (let index = 0; index < 20; index++) {
    nowMs += 1;
    store.keep(response(`r${index}`, { input }));
  }
  restart();
  const left = Array.from({ length: 20 }, (_each, index) => index).filter((index) =>
    store.find(`r${index}`, 'default'),
  );
  expect(left).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(store.find('other', 'other')).toBeDefined();
});

test('there is a most of them for a group, too', () => {
  settings.bytesPerGroup = 64 * 1024 * 1024;
  for (let index = 0; index <= 2_000; index++) {
    nowMs += 1;
    store.keep(response(`r${index}`));
  }
  restart();
  expect(countRows()).toBe(2_000);
  expect(store.find('r0', 'default')).toBeUndefined();
});

test('one that is too long is not kept, and none is where nothing is to be kept', () => {
  const long = response('a', { input: JSON.stringify('x'.repeat(10_000)) });
  expect(store.mayKeep(long)).toBe(false);
  store.keep(long);
  expect(store.find('a', 'default')).toBeUndefined();
  settings.retentionHours = 0;
  expect(store.mayKeep(response('b'))).toBe(false);
  store.keep(response('b'));
  settings.retentionHours = 24;
  expect(store.find('b', 'default')).toBeUndefined();
});

test('the id of an item tells its response', () => {
  const id = createKeptId();
  expect(responseOfItem(`${id.replace('resp', 'msg')}_0`)).toBe(id);
  expect(responseOfItem('msg_0123456789abcdef')).toBeNull();
});
