import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dayMs } from '../../../../server/contract/units.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createReasoningStore, type SqliteReasoningStore } from '../../../../server/store/sqlite/reasoning-store.ts';
import { silent, temporaryFolder } from '../sqlite/records.ts';

let folder: string;
let database: Database;
let store: SqliteReasoningStore;
let nowMs: number;

beforeEach(() => {
  folder = temporaryFolder();
  nowMs = 1_790_000_000_000;
  open();
});
afterEach(() => {
  vi.useRealTimers();
  close();
  rmSync(folder, { recursive: true, force: true });
});

function open(maxLength?: number): void {
  database = openSqliteDatabase(join(folder, 'sluice.db'));
  const now = () => nowMs;
  store = createReasoningStore({ database, log: silent, now, ...(maxLength !== undefined && { maxLength }) });
}

function close(): void {
  store.close();
  database.close();
}

const found = (...callIds: string[]) => [...store.find('k1', callIds)];
const rows = () => database.prepare('SELECT count(*) AS count FROM reasoning').get()?.count;

test('what is kept is found at once, and after a restart', () => {
  store.keep('k1', 'call_1', 'a');
  expect(found('call_1', 'call_2')).toEqual([['call_1', 'a']]);
  close();
  open();
  store.keep('k1', 'call_2', 'b');
  expect(found('call_1', 'call_2', 'call_3').sort()).toEqual([
    ['call_1', 'a'],
    ['call_2', 'b'],
  ]);
});

test('another key finds nothing of it', () => {
  store.keep('k2', 'call_1', 'a');
  expect(found('call_1')).toEqual([]);
  close();
  open();
  expect(found('call_1')).toEqual([]);
});

test('a day later it is gone, from memory and from the file', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  close();
  open();
  store.keep('k1', 'call_1', 'a');
  store.flush();
  nowMs += dayMs;
  expect(found('call_1')).toEqual([]);
  vi.advanceTimersByTime(3_600_000);
  expect(rows()).toBe(0);
  close();
  nowMs += 1;
  open();
  expect(found('call_1')).toEqual([]);
});

test('the oldest goes where there is no room, and leaves the file too', () => {
  close();
  open(10);
  for (const call of ['1', '2', '3']) store.keep('k1', call, '12345');
  expect(found('1', '2', '3').map(([call]) => call)).toEqual(['2', '3']);
  store.flush();
  store.keep('k1', '4', '12345');
  store.flush();
  expect(rows()).toBe(2);
  expect(found('2', '3', '4').map(([call]) => call)).toEqual(['3', '4']);
});

test('one that is longer than any is not kept', () => {
  store.keep('k1', 'call_1', 'x'.repeat(600_000));
  expect(found('call_1')).toEqual([]);
});

test('a file that cannot be written costs nothing but the memory of a restart', () => {
  const warnings: string[] = [];
  store.close();
  const log = { warn: (_fields: object, message: string) => warnings.push(message) };
  store = createReasoningStore({ database, log, now: () => nowMs });
  store.keep('k1', 'call_1', 'a');
  database.close();
  store.flush();
  expect(warnings).toEqual(['reasoning cannot be written']);
  expect(found('call_1')).toEqual([['call_1', 'a']]);
});
