import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { minuteMs } from '../../../../server/contract/units.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type Ledger } from '../../../../server/store/sqlite/ledger.ts';
import { finishedRow, noon, silent } from './records.ts';

let database: Database;
let ledger: Ledger;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  database = openSqliteDatabase(':memory:');
  ledger = createLedger({ database, log: silent });
});
afterEach(() => {
  ledger.close();
  database.close();
  vi.useRealTimers();
});

let count = 0;
function refuse(reason: string, startedAt: number, client: string | null, to = ledger): void {
  const more = { keyId: null, groupId: null, outcome: 'error', errorCode: reason, startedAt, client } as const;
  to.refusals.add(finishedRow(`req_${count++}`, more));
}

const rowsOf = (table: string) => Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count);

test('any number of requests without a valid key makes one row a minute and reason', () => {
  for (let index = 0; index < 30_000; index++) refuse('invalid_api_key', noon + index, `tool ${index}`);
  refuse('missing_key', noon + 40_000, null);
  for (let index = 0; index < 10; index++) refuse('invalid_api_key', noon + minuteMs + index, 'last');
  ledger.flush();
  expect([rowsOf('refusals'), rowsOf('requests'), rowsOf('usage_cells')]).toEqual([3, 0, 0]);
});

test('the log tells of them once a minute and reason, with their number', () => {
  const told: object[] = [];
  const telling = createLedger({ database, log: { warn: (fields) => void told.push(fields) } });
  for (let index = 0; index < 500; index++) refuse('missing_key', noon + index, `tool ${index}`, telling);
  refuse('invalid_api_key', noon, 'other', telling);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(minuteMs);
  expect(told).toEqual([
    { reason: 'missing_key', requests: 500, lastClient: 'tool 499' },
    { reason: 'invalid_api_key', requests: 1, lastClient: 'other' },
  ]);
  refuse('missing_key', noon, 'x', telling);
  telling.close();
  expect(told).toHaveLength(3);
});
