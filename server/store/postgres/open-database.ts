/**
 * Opens a database of PostgreSQL with the tables of this version. Imported only if one is named, since the driver costs time and
 * memory.
 */
import { readAddress } from './address.ts';
import { migrate } from './migrate.ts';
import { Notices } from './notices.ts';
import { Postgres } from './postgres.ts';
import { startProblem } from './start-problem.ts';

interface Options {
  /** `postgres://user:password@host:port/database`; secret. */
  url: string;
  log: { warn(fields: object, message: string): void };
  /** As in `PostgresOptions`. */
  statementMs?: number;
}

/** Changes of large tables take their time, and so does waiting for a replica that makes them. */
const migrationMs = 30 * 60_000;

export interface OpenDatabase {
  readonly postgres: Postgres;
  /** Other connections, so that what people ask for does not hold up what is written. */
  readonly reading: Postgres;
  readonly notices: Notices;
  /** To be called once everything that uses it is closed. */
  close(): Promise<void>;
}

/** Rejects with a GatewayError if the database cannot be used, which says what to do. */
export async function openDatabase({ url, log, statementMs }: Options): Promise<OpenDatabase> {
  const address = readAddress(url);
  const failed = ({ message }: Error) => log.warn({ error: message }, 'a connection to the database was lost');
  const migrating = new Postgres({ url, failed, connections: 1, statementMs: migrationMs });
  try {
    await migrate(migrating);
  } catch (error) {
    throw startProblem(error, address);
  } finally {
    await migrating.close();
  }
  const options = { url, failed, ...(statementMs !== undefined && { statementMs }) };
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
