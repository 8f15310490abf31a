import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { PostgresRefusals } from '../../../../server/store/postgres/refusals.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('requests without a valid key, in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  let opened: PostgresRefusals[];
  beforeEach(async () => {
    opened = [];
    postgres = await openTables(await server.createDatabase());
  });
  afterEach(async () => {
    for (const refusals of opened) await refusals.close();
    await postgres.close();
  });

  const minute = 60_000;
  function open(): PostgresRefusals {
    const refusals = new PostgresRefusals({ postgres, log: silent, pollMs: 86_400_000 });
    opened.push(refusals);
    return refusals;
  }
  const refuse = (refusals: PostgresRefusals, startedAt: number, client: string, errorCode = 'missing_key') =>
    refusals.add(finishedRow('req_1', { keyId: null, outcome: 'error', errorCode, startedAt, client }));

  test('are counted at once here, and with those of other replicas', async () => {
    const [one, two] = [open(), open()];
    for (let index = 0; index < 5; index++) refuse(one, noon + index, `one ${index}`);
    refuse(two, noon + minute, 'two');
    refuse(two, noon + 2, 'two', 'invalid_api_key');
    expect(one.since(noon)).toEqual([
      { keyId: null, reason: 'missing_key', requests: 5, lastAt: noon + 4, lastClient: 'one 4' },
    ]);
    await one.flush();
    await two.flush();
    await one.read();
    const all = [
      { keyId: null, reason: 'missing_key', requests: 6, lastAt: noon + minute, lastClient: 'two' },
      { keyId: null, reason: 'invalid_api_key', requests: 1, lastAt: noon + 2, lastClient: 'two' },
    ];
    expect(one.since(noon)).toEqual(all);
    expect(two.since(noon)).toEqual(all);
    expect(one.since(noon + minute)).toMatchObject([{ requests: 1 }]);
    expect([one.count, two.count]).toEqual([5, 2]);
  });

  test('are counted on while the database is away', async () => {
    const refusals = open();
    refuse(refusals, noon, 'before');
    await server.kill();
    await refusals.flush();
    refuse(refusals, noon + 1, 'meanwhile');
    expect(refusals.since(noon)).toMatchObject([{ requests: 2, lastClient: 'meanwhile' }]);
    await server.start();
    await refusals.flush();
    expect((await postgres.ask('SELECT requests, last_client FROM refusal_counts')).rows).toEqual([
      { requests: 2, last_client: 'meanwhile' },
    ]);
    expect(refusals.since(noon)).toMatchObject([{ requests: 2 }]);
  });
});
