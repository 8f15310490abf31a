import { GatewayError } from '../../contract/errors.ts';
import { number } from '../rules/columns.ts';
import { type Migration, postgresMigrations as ownMigrations } from './migrations.ts';
import type { Postgres, Queries } from './postgres.ts';

/** An arbitrary number that no other program uses in the same database. */
const migrationLock = 4_810_001;

/**
 * Applies the missing migrations in one transaction, once even if several replicas start at the same time. Rejects with
 * a GatewayError `internal` if a newer version of Sluice has made the tables unusable for this one, and with
 * PostgreSQL's error if privileges are missing.
 */
export async function migratePostgres(
  postgres: Postgres,
  migrations: readonly Migration[] = ownMigrations,
): Promise<void> {
  await postgres.transaction(async (queries) => {
    await queries.ask('SELECT pg_advisory_xact_lock($1)', migrationLock);
    await queries.ask(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version integer PRIMARY KEY, name text NOT NULL, oldest_program integer NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    const version = await readVersion(queries, migrations.length);
    for (const [index, migration] of migrations.entries()) if (index >= version) await apply(queries, index, migration);
  });
}

/** The number of migrations already applied. */
async function readVersion(queries: Queries, newestVersion: number): Promise<number> {
  const { rows } = await queries.ask(
    'SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_program), 0) AS oldest FROM schema_migrations',
  );
  if ((number(rows[0]?.oldest) ?? 0) > newestVersion) {
    throw new GatewayError(
      'internal',
      'A newer Sluice has changed the database, and this version cannot use it. Update Sluice.',
    );
  }
  return number(rows[0]?.version) ?? 0;
}

async function apply(queries: Queries, index: number, { name, sql, oldestProgram = 0 }: Migration): Promise<void> {
  await queries.script(sql);
  await queries.ask(
    'INSERT INTO schema_migrations (version, name, oldest_program) VALUES ($1, $2, $3)',
    index + 1,
    name,
    oldestProgram,
  );
}
