/**
 * Opens a PostgreSQL database and migrates it to this version. Imported only if a database is configured, because the
 * driver costs time and memory.
 */
import { type Address, readAddress, resolveAddress } from './address.ts';
import { migratePostgres } from './migrate.ts';
import { Notices } from './notices.ts';
import { Postgres, type PostgresOptions } from './postgres.ts';
import { startProblem } from './start-problem.ts';

interface Options extends Pick<PostgresOptions, 'url'> {
  log: { warn(fields: object, message: string): void };
  /** As in `PostgresOptions`. */
  statementMs?: number;
}

/** Changing large tables takes time, as does waiting for another replica that is migrating. */
const migrationMs = 30 * 60_000;

export interface OpenDatabase {
  readonly postgres: Postgres;
  /** Separate connections, so that queries do not delay writes. */
  readonly reading: Postgres;
  readonly notices: Notices;
  /** Must be called after everything that uses the database is closed. */
  close(): Promise<void>;
}

/** A few statements on the tables of this version. Rejects with a GatewayError that says what to do if it fails. */
export async function withDatabase<T>(
  { address: given, env, log }: Pick<Options, 'log'> & { address: string; env: Parameters<typeof resolveAddress>[1] },
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const url = await resolveAddress(given, env);
  const database = await openPostgresDatabase({ url, log });
  try {
    return await work(database.postgres);
  } catch (error) {
    throw startProblem(error, readAddress(url));
  } finally {
    await database.close();
  }
}

/** Rejects with a GatewayError that says what to do if the database cannot be used. */
export async function openPostgresDatabase({ url, log, statementMs }: Options): Promise<OpenDatabase> {
  const address: Address = readAddress(typeof url === 'string' ? url : url());
  const connectionLost = ({ message }: Error) => log.warn({ error: message }, 'a connection to the database was lost');
  const migrating = new Postgres({ url, failed: connectionLost, connections: 1, statementMs: migrationMs });
  try {
    await migratePostgres(migrating);
  } catch (error) {
    throw startProblem(error, address);
  } finally {
    await migrating.close();
  }
  const options = { url, failed: connectionLost, ...(statementMs !== undefined && { statementMs }) };
  const postgres = new Postgres(options);
  const reading = new Postgres(options);
  const notices = new Notices({ url, log });
  return {
    postgres,
    reading,
    notices,
    async close() {
      await Promise.all([notices.close(), reading.close(), postgres.close()]);
    },
  };
}
