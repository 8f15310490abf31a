/** Opens what lasts in PostgreSQL. Imported only if a database is named, since the driver costs time and memory. */
import type { Store, StoreOptions } from '../store.ts';
import { PostgresJobStore } from './job-store.ts';
import { migrate } from './migrate.ts';
import { Postgres } from './postgres.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
import { PostgresResponseStore } from './response-store.ts';

interface Options extends Pick<StoreOptions, 'log' | 'settings'> {
  /** `postgres://user:password@host:port/database`; secret. */
  url: string;
}

/** Rejects with PostgreSQL's error if the database cannot be reached or its tables cannot be made. */
export async function openPostgresStore({ url, log, settings }: Options): Promise<Omit<Store, 'ledger'>> {
  const failed = ({ message }: Error) => log.warn({ error: message }, 'a connection to the database was lost');
  const postgres = new Postgres({ url, failed });
  try {
    await migrate(postgres);
  } catch (error) {
    await postgres.close();
    throw error;
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
