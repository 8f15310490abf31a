import { expect, test } from 'vitest';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import { dayMs } from '../../../../server/contract/units.ts';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { finishedRow, noon, silent } from './records.ts';

const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const day = { startMs: noon - dayMs / 2, endMs: noon + dayMs / 2 };

test('what was spent holds what cannot be written now, and holds it once when it is', () => {
  const database = openSqliteDatabase(':memory:');
  const ledger = createLedger({ database, log: silent, now: () => noon });
  let count = 0;
  const add = (more: Partial<RequestRecord>) => ledger.finished(finishedRow(`req_${count++}`, more));
  add({});
  ledger.flush();
  database.exec('PRAGMA query_only = ON');
  add({ costUsd: null });
  add({ startedAt: noon - dayMs });
  add({ keyId: 'k2' });
  const spent = { tokens: 30, usd: 0.001, unpriced: 1 };
  expect(ledger.history.spent('key', 'k1', day)).toEqual(spent);
  expect(ledger.history.spent('key', 'k1', always).tokens).toBe(45);
  database.exec('PRAGMA query_only = OFF');
  expect(ledger.history.spent('key', 'k1', day)).toEqual(spent);
  ledger.close();
  database.close();
});
