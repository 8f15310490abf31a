/** Opens what lasts in PostgreSQL. Imported only if a database is named, since the driver costs time and memory. */
import type { Store, StoreOptions } from '../store.ts';
import { PostgresJobStore } from './job-store.ts';
import { migrate } from './migrate.ts';
import { Postgres } from './postgres.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
import { PostgresResponseStore } from './response-store.ts';
import { readAddress, startProblem } from './start-problem.ts';

interface Options extends Pick<StoreOptions, 'log' | 'settings'> {
  /** `postgres://user:password@host:port/database`; secret. */
  url: string;
}

/** Rejects with a GatewayError if the database cannot be used, which says what to do. */
export async function openPostgresStore({ url, log, settings }: Options): Promise<Omit<Store, 'ledger'>> {
  const address = readAddress(url);
  const failed = ({ message }: Error) => log.warn({ error: message }, 'a connection to the database was lost');
  const postgres = new Postgres({ url, failed });
  try {
    await migrate(postgres);
  } catch (error) {
    await postgres.close();
    throw startProblem(error, address);
  }
  const jobs = new PostgresJobStore({ postgres, log, retentionDays: () => settings().jobs.retentionDays });
  const keptResponses = new PostgresResponseStore({ postgres, log, settings: () => settings().keptResponses });
  const reasoning = new PostgresReasoningStore({ postgres, log });
  return {
    jobs,
    keptResponses,
    reasoning,
    async close() {
      await Promise.all([jobs.close(), keptResponses.close(), reasoning.close()]);
      await postgres.close();
    },
  };
}
