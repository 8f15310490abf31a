/** Budgets of sessions with an asynchronous ledger, such as that of several replicas. */
import { beforeEach, expect, test } from 'vitest';
import type { SessionBudgetReached } from '../../../server/contract/session-views.ts';
import { SessionSpending } from '../../../server/exchange/sessions/session-companion.ts';
import { finishedRow, sessionMark } from '../store/sqlite/records.ts';

const budget = { notifyAtUsd: 1, stopAtUsd: 2 };
const session = sessionMark('ses_1');

let reads: PromiseWithResolvers<number | null>[];
let told: SessionBudgetReached[];
let spending: SessionSpending;
beforeEach(() => {
  reads = [];
  told = [];
  spending = new SessionSpending({
    budgetUsedUsd() {
      const read = Promise.withResolvers<number | null>();
      reads.push(read);
      return read.promise;
    },
  });
  spending.onReached((notice) => told.push(notice));
});

const hold = () => spending.check(session.id, budget);
const end = (costUsd: number) => spending.finished(finishedRow('req', { session, costUsd }), budget);
async function answer(usd: number | null): Promise<void> {
  reads.shift()?.resolve(usd);
  await new Promise((resolve) => setImmediate(resolve));
}

test('a first request that ends before the amount spent is known is counted and reported once', async () => {
  hold();
  end(1.5);
  expect(told).toEqual([]);
  await answer(0);
  expect(told).toMatchObject([{ amount: 'notify', usedUsd: 1.5, sessionId: 'ses_1' }]);
  hold();
  end(0.25);
  expect(told).toHaveLength(1);
  end(0.5);
  expect(told.map(({ amount }) => amount)).toEqual(['notify', 'stop']);
  expect(hold).toThrow('uses up its budget');
});

test('requests that begin in the meantime are served, and cause no second query', async () => {
  hold();
  hold();
  expect(reads).toHaveLength(1);
  await answer(2);
  expect(hold).toThrow('uses up its budget');
});

test('an amount reached before is not reported', async () => {
  hold();
  await answer(1.25);
  end(0.25);
  expect(told).toEqual([]);
});

test('a session that is resumed while its amount is read starts from zero', async () => {
  hold();
  spending.forget(session.id);
  hold();
  const [old, fresh] = reads;
  old?.resolve(5);
  fresh?.resolve(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(hold).not.toThrow();
});

test('an amount that cannot be read is queried again with the next request', async () => {
  hold();
  await answer(null);
  hold();
  await answer(2);
  expect(hold).toThrow('uses up its budget');
});
