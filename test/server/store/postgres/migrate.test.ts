import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Migration, postgresMigrations } from '../../../../server/store/postgres/migrations.ts';
import { migratePostgres, openPostgresDatabase } from '../../../../server/store/postgres/open-database.ts';
import { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { begun, eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('the tables in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let opened: Postgres[];
  const open = () => {
    const postgres = new Postgres({ url, failed() {} });
    opened.push(postgres);
    return postgres;
  };
  beforeEach(async () => {
    url = await server.createDatabase();
    opened = [];
  });
  afterEach(() => Promise.all(opened.map((postgres) => postgres.close())));

  const counter: Migration[] = [
    { name: 'counter', sql: 'CREATE TABLE counter (n integer); INSERT INTO counter VALUES (0)' },
    { name: 'one more', sql: 'UPDATE counter SET n = n + 1' },
  ];

  test('are made once by replicas that start at the same time', async () => {
    await Promise.all([1, 2, 3, 4].map(() => migratePostgres(open(), counter)));
    const { rows } = await open().ask('SELECT n FROM counter');
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('may take longer than any other statement', async () => {
    const blocking = open();
    let finish: (() => void) | null = null;
    const blocked = blocking.transaction(async (queries) => {
      await queries.ask('SELECT pg_advisory_xact_lock($1)', 4_810_001);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    const end = await eventually(() => finish);
    const opening = begun(openPostgresDatabase({ url, log: silent, statementMs: 200 }));
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'
      AND query_start < now() - interval '400 milliseconds'`;
    await eventually(async () => (await blocking.ask(waits)).count > 0);
    end();
    await blocked;
    const { postgres, close } = await opening;
    await expect(postgres.ask('SELECT pg_sleep(9)')).rejects.toThrow('statement timeout');
    await close();
  });

  test('get what is new, and nothing twice', async () => {
    const postgres = open();
    await migratePostgres(postgres);
    await migratePostgres(postgres, [...postgresMigrations, { name: 'next', sql: 'CREATE TABLE next (n integer)' }]);
    await migratePostgres(postgres, [...postgresMigrations, { name: 'next', sql: 'CREATE TABLE next (n integer)' }]);
    const { rows } = await postgres.ask('SELECT name FROM schema_migrations ORDER BY version');
    expect(rows.map(({ name }) => name)).toEqual([...postgresMigrations.map(({ name }) => name), 'next']);
  });

  test('of a newer version are used, unless they say that they cannot be', async () => {
    const postgres = open();
    const added = [...counter, { name: 'added', sql: 'ALTER TABLE counter ADD COLUMN m integer' }];
    await migratePostgres(postgres, added);
    await migratePostgres(postgres, counter);
    await migratePostgres(postgres, [
      ...added,
      { name: 'dropped', sql: 'ALTER TABLE counter DROP n', oldestProgram: 3 },
    ]);
    await migratePostgres(postgres, added);
    await expect(migratePostgres(postgres, counter)).rejects.toThrow('Update Sluice');
  });

  test('are unchanged after a migration that fails', async () => {
    const postgres = open();
    const broken = [...counter, { name: 'broken', sql: 'ALTER TABLE nowhere ADD COLUMN m integer' }];
    await expect(migratePostgres(postgres, broken)).rejects.toThrow('nowhere');
    const { rows } = await postgres.ask("SELECT to_regclass('counter') AS counter");
    expect(rows).toEqual([{ counter: null }]);
  });
});
