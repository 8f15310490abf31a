/** Opens the durable store in PostgreSQL. */
import { join } from 'node:path';
import { counted } from '../../contract/units.ts';
import { settleWithin } from '../../ground/timers.ts';
import type { RenewalStore, Store, StoreOptions } from '../store.ts';
import { PostgresJobStore } from './job-store.ts';
import { openPostgresLedger } from './ledger.ts';
import { channel, type Notices } from './notices.ts';
import type { OpenDatabase } from './open-database.ts';
import type { Postgres } from './postgres.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
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

/** An arbitrary number that no other program uses in the same database. */
const renewalLock = 4_810_005;

const writeSql = `WITH written AS (
    INSERT INTO renewed_prices (document, changes) VALUES ($1, 1)
    ON CONFLICT (only_one) DO UPDATE SET document = excluded.document, changes = renewed_prices.changes + 1 RETURNING 1
  ) SELECT pg_notify('${channel}', 'prices') FROM written`;

/** What was read of public prices and exchange rates: one row for all replicas, written by one of them at a time. */
export function createRenewalRow(postgres: Postgres, notices: Notices): RenewalStore {
  /** That of the document that was last read here. */
  let seen = 0;
  const read = async (queries: Pick<Postgres, 'ask'>) => {
    const { rows } = await queries.ask('SELECT document, changes FROM renewed_prices');
    seen = Number(rows[0]?.changes ?? 0);
    return rows[0] === undefined ? null : String(rows[0].document);
  };
  return {
    read: () => read(postgres),
    async exclusive(work) {
      const isDone = await postgres.exclusive(renewalLock, async (queries) => {
        const text = await work(await read(queries));
        if (text !== null) await queries.ask(writeSql, text);
        return true;
      });
      return isDone ?? false;
    },
    onChange(listener) {
      // Also called every few seconds, when there is seldom anything new.
      notices.on('prices', () => {
        postgres.ask('SELECT changes FROM renewed_prices').then(
          ({ rows }) => {
            if (Number(rows[0]?.changes ?? 0) !== seen) listener();
          },
          // Told by everything else that asks the database.
          () => {},
        );
      });
    },
  };
}
