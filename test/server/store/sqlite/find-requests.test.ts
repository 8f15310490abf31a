/** Searching requests in SQLite, and the number of rows that a search reads. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestConditions } from '../../../../server/store/rules/request-conditions.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type Ledger } from '../../../../server/store/sqlite/ledger.ts';
import { createLedgerQueries } from '../../../../server/store/sqlite/queries.ts';
import { attemptRecord } from '../../../support/stand-ins.ts';
import { capturedExchange, clockAt, finishedRow, noon, silent, startedRow } from './records.ts';

let database: Database;
let ledger: Ledger;
beforeEach(() => {
  database = openSqliteDatabase(':memory:');
  ledger = createLedger({ database, log: silent, now: () => noon });
});
afterEach(() => {
  ledger.close();
  database.close();
});

async function ids(filter: Parameters<Ledger['listRequests']>[0]) {
  return (await ledger.listRequests(filter)).requests.map(({ id }) => id);
}

/** A captured request. */
function capture(id: string, request: string, response = ''): void {
  ledger.finished(finishedRow(id, { captured: 'group' }));
  ledger.capture(id, capturedExchange(request, response));
}

describe('a filter by name', () => {
  test('finds requests that were recorded before names were, and those of a run that was killed', async () => {
    ledger.finished(finishedRow('req_old', { provider: 'old' }));
    ledger.started(startedRow('req_killed'));
    ledger.flush();
    database.exec("DELETE FROM request_names; UPDATE facts SET value = 3 WHERE name = 'first named request'");
    expect(await ids({ provider: 'old' })).toEqual(['req_old']);
    const next = createLedger({ database, log: silent });
    expect((await next.listRequests({ outcome: 'failed' })).requests).toMatchObject([{ id: 'req_killed' }]);
    next.close();
  });

  test('finds what a failed write left, once it was written', async () => {
    const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });
    const { transaction } = database;
    database.transaction = (work) =>
      transaction.call(database, () => {
        work();
        throw full;
      }) as never;
    ledger.finished(finishedRow('req_1', { provider: 'p1' }));
    ledger.flush();
    database.transaction = transaction;
    expect(await ids({ provider: 'p1' })).toEqual(['req_1']);
  });
});

describe('the rows that are read', () => {
  const rows = 40_000;
  const every = 1_000;

  function fill(): void {
    for (let index = 0; index < rows; index++) {
      const isRare = index % every === 0;
      ledger.finished(
        finishedRow(`req_${index}`, {
          startedAt: noon + index,
          ...(isRare && { keyId: 'rare', client: 'rare', status: 418, provider: 'rare', capability: 'videos' }),
        }),
      );
      if (index % 4_000 === 0) ledger.flush();
    }
    ledger.flush();
  }

  /** Queries on a database that counts the rows within the bounds of each read of requests. */
  function counting() {
    let read = 0;
    const counted: Database = {
      ...database,
      exec: (sql) => database.exec(sql),
      transaction: (work) => database.transaction(work),
      onReplaced: () => {},
      close: () => {},
      prepare(sql) {
        const statement = database.prepare(sql);
        if (!sql.includes('FROM requests WHERE seq >= ? AND seq < ?')) return statement;
        return {
          ...statement,
          all: (...values) => {
            read += Number(values[1]) - Number(values[0]);
            return statement.all(...values);
          },
        };
      },
    };
    return { queries: createLedgerQueries(counted), rowsRead: () => read };
  }

  test.each<[string, RequestConditions]>([
    ['key', { keyId: 'rare' }],
    ['client', { client: 'rare' }],
    ['provider', { provider: 'rare' }],
    ['status', { status: '418' }],
    ['capability', { capability: 'videos' }],
    ['search', { search: 'rare' }],
  ])('for a page of a rare %s are those of its blocks', async (_name, filter) => {
    fill();
    const { queries, rowsRead } = counting();
    const { requests } = await queries.listRequests({ ...filter, limit: 10 });
    expect(requests).toHaveLength(10);
    expect(rowsRead()).toBeLessThanOrEqual(10 * 2 * 256);
    await queries.listRequests({ ...filter, keyId: 'nobody' });
    expect(rowsRead()).toBeLessThanOrEqual(10 * 2 * 256 + 256);
  });

  test('for an id with a time are those of that time', async () => {
    fill();
    const id = `req_${(noon + 30_000).toString(16).padStart(12, '0')}${'a'.repeat(20)}`;
    ledger.finished(finishedRow(id, { startedAt: noon + 30_000 }));
    ledger.flush();
    const plan = database.prepare('EXPLAIN QUERY PLAN SELECT * FROM requests WHERE seq >= 1 AND seq < 9').all();
    expect(plan[0]?.detail).toContain('USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
    expect(await ids({ search: id.slice(0, 14) })).toContain(id);
    expect((await ledger.getRequest(id))?.id).toBe(id);
  });

  test('for an id of a busy hour are those around it', async () => {
    const timed = (startedAt: number) => `req_${startedAt.toString(16).padStart(12, '0')}${'a'.repeat(20)}`;
    for (let startedAt = noon; startedAt < noon + 10_000; startedAt++)
      ledger.finished(finishedRow(timed(startedAt), { startedAt }));
    ledger.flush();
    for (const startedAt of [noon, noon + 300, noon + 5_000]) {
      const { queries, rowsRead } = counting();
      expect(await queries.getRequest(timed(startedAt))).toMatchObject({ startedAt });
      expect(rowsRead()).toBeLessThanOrEqual(3 * 256);
    }
  });
});

describe('a search', () => {
  test('finds characters of Chinese that follow each other', async () => {
    capture('req_chinese', '{"content":"请帮我写一个排序算法"}');
    expect(await ids({ search: '排序' })).toEqual(['req_chinese']);
    expect(await ids({ search: '序排' })).toEqual([]);
  });

  test('finds nothing of a capture whose time is past, nor of a request that was deleted', async () => {
    let nowMs = noon;
    const settings = () => ({ retentionDays: 90, retentionRows: 1, captureRetentionDays: 1, captureBytes: 1e9 });
    const clock = clockAt(() => nowMs);
    const sweeping = createLedger({ database, log: silent, now: () => nowMs, sweepClock: clock, settings });
    sweeping.finished(finishedRow('req_1', { attempts: [attemptRecord({ error: 'on fire' })] }));
    sweeping.finished(finishedRow('req_2', { captured: 'group' }));
    sweeping.capture('req_2', capturedExchange('banana'));
    expect((await sweeping.listRequests({ search: 'banana' })).requests).toHaveLength(1);
    nowMs += 3 * 86_400_000;
    await sweeping.sweep();
    expect(await sweeping.listRequests({ search: 'banana' })).toMatchObject({ requests: [] });
    const words = ['captured_text', 'error_text'].map((name) =>
      database.prepare(`SELECT count(*) AS rows FROM ${name}_docsize`).get(),
    );
    expect(words).toEqual([{ rows: 0 }, { rows: 0 }]);
    expect(await sweeping.getRequest('req_2')).toMatchObject({ id: 'req_2' });
    sweeping.close();
  });
});
