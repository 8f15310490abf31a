/** Opens what lasts in PostgreSQL. */
import type { Store, StoreOptions } from '../store.ts';
import { PostgresJobStore } from './job-store.ts';
import { openPostgresLedger } from './ledger.ts';
import type { OpenDatabase } from './open-database.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
import { PostgresResponseStore } from './response-store.ts';

interface Options extends Pick<StoreOptions, 'log' | 'settings'> {
  database: OpenDatabase;
}

/** The store in a database that is open; closing it leaves the database open. Rejects with PostgreSQL's error. */
export async function openPostgresStore({ database, log, settings }: Options): Promise<Store> {
  const { postgres, reading, notices } = database;
  const jobs = new PostgresJobStore({ postgres, log, retentionDays: () => settings().jobs.retentionDays });
  const keptResponses = new PostgresResponseStore({ postgres, log, settings: () => settings().keptResponses });
  const reasoning = new PostgresReasoningStore({ postgres, log });
  const ledger = await openPostgresLedger({
    postgres,
    reading,
    notices,
    log,
    settings: () => {
      const { ledger: kept, capture } = settings();
      return { ...kept, captureRetentionDays: capture.retentionDays };
    },
  });
  return {
    isShared: true,
    ledger,
    jobs,
    keptResponses,
    reasoning,
    async close() {
      await Promise.all([jobs.close(), keptResponses.close(), reasoning.close()]);
      await ledger.close();
    },
  };
}
