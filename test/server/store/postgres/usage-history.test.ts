import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shadowAccount } from '../../../../server/contract/ledger.ts';
import { openDatabase } from '../../../../server/database/database.ts';
import { createLedger, type LocalLedger } from '../../../../server/ledger/ledger.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { PostgresUsageHistory } from '../../../../server/store/postgres/usage-history.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, silent, startedRow } from '../../ledger/records.ts';

describe.runIf(hasPostgres())('what was used so far, in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  let sqlite: LocalLedger;
  let history: PostgresUsageHistory;
  const quarter = 900_000;
  const day = 96 * quarter;
  const midnight = noon - day / 2;

  const shadowed = { id: 'req', provider: null, model: null, costUsd: 1, firstByteMs: 1, totalMs: 1, outputTokens: 1 };

  beforeAll(async () => {
    postgres = await openTables(await server.createDatabase());
    history = new PostgresUsageHistory(postgres);
    sqlite = createLedger({ database: openDatabase(':memory:'), log: silent, now: () => noon });
    const records = Array.from({ length: 120 }, (_, index) =>
      finishedRow(`req_${index}`, {
        startedAt: noon - 4 * day + Math.round((4 * day * index) / 119),
        keyId: `k${index % 3}`,
        groupId: index % 2 === 0 ? 'g1' : 'g2',
        // Fractions that add up exactly, in whatever order.
        costUsd: index % 7 === 0 ? null : 0.25,
        usage: { inputTokens: index, outputTokens: 1 },
        ...(index % 10 === 0 && { provider: null, outcome: 'error' as const, attempts: [] }),
        shadowOf: index % 8 === 0 ? shadowed : null,
      }),
    );
    const running = startedRow('req_running', { keyId: 'k1' });
    for (const record of records) sqlite.finished(record);
    sqlite.started(running);
    const writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 1, now: () => noon });
    await writer.write({ id: randomUUID(), rows: [...records.slice(0, 50)] });
    const other = new LedgerWriter({ postgres, replica: randomUUID(), part: 2, now: () => noon });
    await other.write({ id: randomUUID(), rows: [...records.slice(50), running] });
  });
  afterAll(async () => {
    await sqlite.close();
    await postgres.close();
  });

  const ranges = [
    { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
    { startMs: midnight, endMs: midnight + day },
    { startMs: midnight - 2 * day, endMs: midnight },
    { startMs: midnight - 3 * day + 5 * quarter, endMs: noon + quarter },
    { startMs: noon - 4 * quarter, endMs: noon - quarter },
    { startMs: noon - day, endMs: Number.POSITIVE_INFINITY },
  ];

  test.each(ranges)('is the same as in SQLite, of %j', async (range) => {
    for (const id of ['k0', 'k1', 'k2', 'k3'])
      expect(await history.spent('key', id, range)).toEqual(sqlite.history.spent('key', id, range));
    for (const id of ['g1', 'g2', shadowAccount('g1')])
      expect(await history.spent('group', id, range)).toEqual(sqlite.history.spent('group', id, range));
  });

  test('is answered for many at once, each with its own', async () => {
    const questions = ['k0', 'k1', 'k2', 'k3'].flatMap((id) => ranges.map((range) => ({ id, range })));
    const together = await Promise.all(questions.map(({ id, range }) => history.spent('key', id, range)));
    expect(together).toEqual(questions.map(({ id, range }) => sqlite.history.spent('key', id, range)));
  });

  test('names the requests of late, without those that were refused and without shadows', async () => {
    for (const sinceMs of [noon - day, noon]) {
      expect(await history.requestsSince('key', 'k1', sinceMs)).toEqual(
        sqlite.history.requestsSince('key', 'k1', sinceMs),
      );
    }
  });

  test('names the requests of late of many at once, each of its own', async () => {
    const questions = ['k0', 'k1', 'k2', 'k3'].flatMap((id) =>
      [noon - 2 * day, noon - day].flatMap((sinceMs) => [
        { scope: 'key' as const, id, sinceMs },
        { scope: 'group' as const, id: id.replace('k', 'g'), sinceMs },
      ]),
    );
    const together = await Promise.all(
      questions.map((each) => history.requestsSince(each.scope, each.id, each.sinceMs)),
    );
    expect(together).toEqual(questions.map((each) => sqlite.history.requestsSince(each.scope, each.id, each.sinceMs)));
    expect(together.flat().length).toBeGreaterThan(0);
  });

  test('is read as of one moment, with what of it has ended', async () => {
    const [always] = ranges;
    if (!always) throw new Error('There is no range.');
    const question = { scope: 'key', id: 'moment', range: always } as const;
    const rowOf = (id: string, startedAt: number) =>
      finishedRow(id, { startedAt, keyId: 'moment', usage: { inputTokens: 1, outputTokens: 1 } });
    const writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 3, now: () => noon });
    const late = rowOf('late', midnight - 1);
    const running = startedRow('running', { startedAt: noon, keyId: 'moment' });
    await writer.write({ id: randomUUID(), rows: [rowOf('before', noon), late, running] });
    const asked = [
      { id: 'before', startedAt: noon },
      // Only known to have begun before its lease lapsed.
      { id: 'late', startedAt: midnight + 1 },
      { id: 'running', startedAt: noon },
      { id: 'after', startedAt: noon },
    ];
    const ended = await history.atOneMoment(async (moment) => {
      expect(await moment.spent([question])).toMatchObject([{ tokens: 4 }]);
      await writer.write({ id: randomUUID(), rows: [rowOf('after', noon)] });
      return moment.ended(asked);
    });
    expect([...ended].sort()).toEqual(['before', 'late']);
    expect(await history.atOneMoment(async (moment) => moment.spent([question]))).toMatchObject([{ tokens: 6 }]);
  });

  test('begins at zero for a key whose id was another’s', async () => {
    const always = ranges[0] ?? { startMs: 0, endMs: 0 };
    expect((await history.spent('key', 'k0', always)).tokens).toBeGreaterThan(0);
    await history.forgetTotal('key', 'k0');
    expect(await history.spent('key', 'k0', always)).toEqual({ usd: 0, tokens: 0, unpriced: 0 });
  });
});
