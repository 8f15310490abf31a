import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BudgetSums, createBudgetSums } from '../../../../server/store/sqlite/budget-sums.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { budgetMigrations } from '../../../../server/store/sqlite/schema.ts';
import { silent } from './records.ts';

const owner = { scope: 'key', id: 'k1', per: 'total', sinceMs: 5 } as const;
const sum = (tokens: number) => ({
  startMs: Number.NEGATIVE_INFINITY,
  endMs: Number.POSITIVE_INFINITY,
  spent: { usd: 0.5, tokens, unpriced: 1 },
});

let database: Database;
let sums: BudgetSums;
beforeEach(() => {
  database = openSqliteDatabase(':memory:', budgetMigrations);
  sums = open();
});
afterEach(() => {
  sums.close();
  database.close();
});

const open = () => createBudgetSums({ database, log: silent, flushMs: 50 });

function reopen(): void {
  sums.close();
  sums = open();
}

test('a sum comes back as it was kept last, its endless period too, and is of no later key of the same id', () => {
  sums.keep(owner, sum(1));
  sums.keep(owner, sum(2));
  reopen();
  expect(sums.find(owner)).toEqual(sum(2));
  expect(sums.find({ ...owner, sinceMs: 6 })).toBeNull();
  expect(sums.find({ ...owner, per: 'day' })).toBeNull();
  sums.forget('key', 'k1');
  expect([sums.find(owner), sums.isEmpty]).toEqual([null, true]);
});

test('sums that could not be written are reported, and written once that is possible', () => {
  database.exec('PRAGMA query_only = ON');
  sums.keep(owner, sum(1));
  sums.flush();
  expect(sums.problem).toMatch(/readonly/);
  sums.keep(owner, sum(2));
  expect(sums.find(owner)).toEqual(sum(2));
  database.exec('PRAGMA query_only = OFF');
  sums.flush();
  expect(sums.problem).toBeNull();
  reopen();
  expect(sums.find(owner)).toEqual(sum(2));
});
