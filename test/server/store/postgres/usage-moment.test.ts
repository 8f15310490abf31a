import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { PostgresUsageHistory } from '../../../../server/store/postgres/usage-history.ts';
import { SetAsideRows } from '../../../../server/store/sqlite/set-aside-rows.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, silent, startedRow } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('what was used so far, in PostgreSQL', () => {
  const server = startPostgresInSuite();
  const midnight = noon - 43_200_000;
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await openTables(await server.createDatabase());
  });
  afterAll(() => postgres.close());

  test('is read as of one moment, with what of it has ended', async () => {
    const history = new PostgresUsageHistory(postgres, new SetAsideRows({ file: null, log: silent }));
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    const question = { scope: 'key', id: 'moment', range } as const;
    const rowOf = (id: string, startedAt: number) =>
      finishedRow(id, { startedAt, keyId: 'moment', usage: { inputTokens: 1, outputTokens: 1 } });
    const writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 3, now: () => noon });
    const late = rowOf('late', midnight - 1);
    const running = startedRow('running', { startedAt: noon, keyId: 'moment' });
    await writer.write({ id: randomUUID(), rows: [rowOf('before', noon), late, running] });
    const asked = [
      { id: 'before', startedAt: noon },
      // It is only known to have begun before its lease lapsed.
      { id: 'late', startedAt: midnight + 1 },
      { id: 'running', startedAt: noon },
      { id: 'after', startedAt: noon },
    ];
    const ended = await history.atSnapshot(async (moment) => {
      expect(await moment.spent([question])).toMatchObject([{ tokens: 4 }]);
      await writer.write({ id: randomUUID(), rows: [rowOf('after', noon)] });
      return moment.ended(asked);
    });
    expect([...ended].sort()).toEqual(['before', 'late']);
    expect(await history.atSnapshot(async (moment) => moment.spent([question]))).toMatchObject([{ tokens: 6 }]);
  });
});
