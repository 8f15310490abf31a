import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isTemporary, messageOf, sqliteCode } from '../../../../server/store/rules/failures.ts';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { temporaryFolder } from './records.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'data', 'sluice.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a new database is readable by its owner only, with its side files', () => {
  const database = openSqliteDatabase(file);
  database.exec("INSERT INTO key_uses VALUES ('k1', 1)");
  for (const suffix of ['', '-wal', '-shm']) expect(statSync(file + suffix).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
  expect(database.notice).toBeNull();
  database.close();
});

test('a database that others could read is made private on opening', () => {
  openSqliteDatabase(file).close();
  chmodSync(file, 0o644);
  openSqliteDatabase(file).close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what was written is there after opening again', () => {
  const first = openSqliteDatabase(file);
  first.prepare('INSERT INTO key_uses VALUES (?, ?)').run('k1', 42);
  first.close();
  const second = openSqliteDatabase(file);
  expect(second.prepare('SELECT * FROM key_uses').all()).toEqual([{ key_id: 'k1', last_used_at: 42 }]);
  second.close();
});

test('a transaction that throws writes nothing', () => {
  const database = openSqliteDatabase(':memory:');
  const insert = database.prepare('INSERT INTO key_uses VALUES (?, ?)');
  expect(() =>
    database.transaction(() => {
      insert.run('k1', 1);
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(database.prepare('SELECT count(*) AS count FROM key_uses').get()).toEqual({ count: 0 });
  database.transaction(() => insert.run('k2', 2));
  expect(database.prepare('SELECT count(*) AS count FROM key_uses').get()).toEqual({ count: 1 });
  database.close();
});

test('only an insertion of one row tells a rowid, since that of other statements is an earlier one', () => {
  const database = openSqliteDatabase(':memory:');
  const refusals = database.prepareInsert(
    'INSERT INTO refusals (minute, reason, requests, last_at) VALUES (?, ?, ?, ?)',
  );
  expect([refusals.insert(1, 'a', 1, 1), refusals.insert(2, 'a', 1, 1)]).toEqual([1, 2]);
  expect(database.prepare('UPDATE refusals SET requests = 2 WHERE seq = ?').run(1)).toEqual({ changes: 1 });
  for (const sql of [
    'UPDATE refusals SET requests = 2',
    'INSERT OR IGNORE INTO key_uses (key_id, last_used_at) VALUES (?, ?)',
    'INSERT INTO key_uses (key_id, last_used_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
    'INSERT INTO key_uses (key_id, last_used_at) SELECT key_id, 0 FROM requests',
  ]) {
    expect(() => database.prepareInsert(sql)).toThrow('Not an INSERT of one row');
  }
  database.close();
});

test('a file that is not a database is set aside under a reported name, and a new one created', () => {
  openSqliteDatabase(file).close();
  writeFileSync(file, 'this is no database, but somebody may want it back'.repeat(100));
  const database = openSqliteDatabase(file);
  const { notice } = database;
  expect(notice).toMatchObject({ file, reason: expect.stringMatching(/not a database/) });
  expect(notice?.movedTo).toMatch(/sluice\.db\.set-aside-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/);
  expect(readFileSync(notice?.movedTo ?? '', 'utf8')).toMatch(/^this is no database/);
  database.exec("INSERT INTO key_uses VALUES ('k1', 1)");
  database.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a second broken file of the same second does not overwrite the first', () => {
  openSqliteDatabase(file).close();
  for (const text of ['first', 'second']) {
    writeFileSync(file, text.repeat(1_000));
    openSqliteDatabase(file).close();
  }
  expect(readdirSync(join(folder, 'data')).filter((name) => /set-aside-[\dT-]+$/.test(name))).toHaveLength(2);
});

test('a database with a damaged schema page is set aside', () => {
  const database = openSqliteDatabase(file);
  database.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, 100, 4_000);
  writeFileSync(file, bytes);
  const again = openSqliteDatabase(file);
  expect(again.notice?.reason).toMatch(/malformed|corrupt/);
  again.close();
});

test('a database of a newer program is set aside rather than misread', () => {
  openSqliteDatabase(file).close();
  const raw = new DatabaseSync(file);
  raw.exec('PRAGMA user_version = 1000');
  raw.close();
  const database = openSqliteDatabase(file);
  expect(database.notice?.reason).toMatch(/newer Sluice/);
  database.close();
});

test('a file that cannot be opened is told by each statement, and opened when that is possible', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  writeFileSync(join(folder, 'data'), 'a file');
  const database = openSqliteDatabase(file);
  const count = database.prepare('SELECT count(*) AS count FROM key_uses');
  const failure = failureOf(() => count.get());
  expect(isTemporary(failure)).toBe(true);
  expect(failure).toMatchObject({ message: expect.stringMatching(/is not a folder|EEXIST|ENOTDIR/) });
  rmSync(join(folder, 'data'));
  // Not checked at every statement, because each check would read the disk.
  expect(failureOf(() => count.get())).toBe(failure);
  vi.setSystemTime(Date.now() + 1_000);
  expect(count.get()).toEqual({ count: 0 });
  expect(database.notice).toBeNull();
  database.close();
  vi.useRealTimers();
});

test('a file that is damaged while it is open is set aside, and a new one created', () => {
  const database = openSqliteDatabase(file);
  const replaced: unknown[] = [];
  database.onReplaced((each) => replaced.push(each));
  const insert = database.prepare('INSERT INTO key_uses VALUES (?, ?)');
  insert.run('k1', 1);
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(file + suffix, 'damaged '.repeat(10_000));
  expect(isTemporary(failureOf(() => database.transaction(() => insert.run('k2', 2))))).toBe(true);
  expect(replaced).toEqual([{ file, movedTo: expect.stringContaining('.set-aside-'), reason: expect.any(String) }]);
  database.transaction(() => insert.run('k3', 3));
  expect(database.prepare('SELECT * FROM key_uses').all()).toEqual([{ key_id: 'k3', last_used_at: 3 }]);
  expect(readdirSync(join(folder, 'data')).filter((name) => /set-aside-[\dT-]+$/.test(name))).toHaveLength(1);
  database.close();
});

test('a file that is removed while it is open is created again', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const database = openSqliteDatabase(file);
  const replaced: unknown[] = [];
  database.onReplaced((each) => replaced.push(each));
  const insert = database.prepare('INSERT INTO key_uses VALUES (?, ?)');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  vi.setSystemTime(Date.now() + 1_000);
  database.transaction(() => insert.run('k1', 1));
  expect(replaced).toEqual([{ file, movedTo: null, reason: expect.stringContaining('removed') }]);
  database.close();
  const again = openSqliteDatabase(file);
  expect(again.prepare('SELECT * FROM key_uses').all()).toEqual([{ key_id: 'k1', last_used_at: 1 }]);
  again.close();
  vi.useRealTimers();
});

function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}

test('if no address of a host answers, the errors of all are reported', () => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
  expect(messageOf(new AggregateError(refused))).toBe(
    'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432',
  );
});

test('sqliteCode is the primary code of an SQLite failure and null of any other', () => {
  const database = openSqliteDatabase(':memory:');
  const insert = database.prepare('INSERT INTO key_uses VALUES (?, ?)');
  insert.run('k1', 1);
  let failure: unknown;
  try {
    insert.run('k1', 1);
  } catch (error) {
    failure = error;
  }
  expect(sqliteCode(failure)).toBe(19);
  expect(sqliteCode(new Error('other'))).toBeNull();
  database.close();
});
