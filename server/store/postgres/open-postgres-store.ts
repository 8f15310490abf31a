/** Opens the durable store in PostgreSQL. */

import { join } from 'node:path';
import { counted } from '../../contract/units.ts';
import { settleWithin } from '../../ground/timers.ts';
import type { Store, StoreOptions } from '../store.ts';
import { PostgresJobStore } from './job-store.ts';
import { openPostgresLedger } from './ledger.ts';
import type { OpenDatabase } from './open-database.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
import { createRenewalRow } from './renewals.ts';
import { PostgresResponseStore } from './response-store.ts';

interface Options extends StoreOptions {
  database: OpenDatabase;
  /** Receives messages for the user, one line each. */
  notice?: ((line: string) => void) | undefined;
}

/** Subfolder of the data folder. */
const spoolName = 'waiting-requests';
const closeMs = 2_000;

/** Opens the store in an open database; closing the store leaves the database open. Rejects with PostgreSQL's error. */
export async function openPostgresStore({ database, dataDir, log, settings, notice }: Options): Promise<Store> {
  const { postgres, reading, notices } = database;
  const jobs = new PostgresJobStore({ postgres, log, retentionDays: () => settings().jobs.retentionDays });
  const keptResponses = new PostgresResponseStore({ postgres, log, settings: () => settings().keptResponses });
  const reasoning = new PostgresReasoningStore({ postgres, log });
  const spoolFolder = dataDir === null ? null : join(dataDir, spoolName);
  const ledger = await openPostgresLedger({
    postgres,
    reading,
    notices,
    spoolFolder,
    log,
    settings: () => {
      const { ledger, capture } = settings();
      return { ...ledger, captureRetentionDays: capture.retentionDays, captureBytes: capture.totalBytes };
    },
  });
  return {
    isShared: true,
    ledger,
    jobs,
    keptResponses,
    reasoning,
    renewals: createRenewalRow(postgres, notices),
    async close() {
      const others = Promise.all([jobs.close(), keptResponses.close(), reasoning.close()]);
      await Promise.all([ledger.close(), settleWithin(closeMs, others)]);
      const { spooled } = ledger.health();
      if (spooled > 0) {
        const unwritten = `${counted(spooled, 'request')} ${spooled === 1 ? 'waits' : 'wait'} in ${spoolFolder}`;
        notice?.(`The database cannot be written: ${unwritten} for the next start on this data folder.`);
      }
    },
  };
}
