/**
 * Opens everything that replicas share: configuration, secrets and the store. Imported only if a database is
 * configured.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigStore } from '../../config/config-store.ts';
import { counted } from '../../contract/units.ts';
import { settleWithin } from '../../ground/timers.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { PeopleStore } from '../ports/people-store.ts';
import { messageOf } from '../rules/failures.ts';
import type { RenewalStore, Store, StoreOptions } from '../store.ts';
import { openPostgresConfig } from './config-store.ts';
import { PostgresJobStore } from './job-store.ts';
import { openPostgresLedger } from './ledger.ts';
import { channel, type Notices } from './notices.ts';
import {
  type Address,
  followAddress,
  mayPass,
  type OpenDatabase,
  openPostgresDatabase,
  readAddress,
  startProblem,
} from './open-database.ts';
import { createPostgresPeopleStore } from './people-store.ts';
import type { Postgres } from './postgres.ts';
import { PostgresReasoningStore } from './reasoning-store.ts';
import { PostgresResponseStore } from './response-store.ts';
import { type OutsideKey, openSealedSecrets } from './secret-store.ts';

interface Options {
  /** `postgres://user:password@host:port/database`, or a reference to it; secret. */
  address: string;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  key: OutsideKey;
  /** How long to wait for a database that cannot be used yet. Default: not at all. */
  timeoutMs?: number | undefined;
  log: StoreOptions['log'];
  /** Receives messages for the user, one line each. */
  notice?: ((line: string) => void) | undefined;
}

/** Between two attempts to use a database, and between two messages of why that fails. */
const pauseMs = 500;
const tellEveryMs = 5_000;

export interface SharedStore {
  readonly address: Address;
  readonly postgres: Postgres;
  readonly config: ConfigStore;
  openSecrets(): Promise<SecretStore>;
  openStore(options: StoreOptions): Promise<Store>;
  /** The people who have signed in, shared by all replicas. */
  openPeople(): PeopleStore;
  /** Reads the files that the address refers to again, as happens whenever they change. Never rejects. */
  readAddress(): Promise<void>;
  /** Must be called after the store is closed. */
  close(): Promise<void>;
}

/**
 * Rejects with a GatewayError if the database or its configuration cannot be used. Its message is one line that says
 * what to do.
 */
export async function openSharedStore(options: Options): Promise<SharedStore> {
  const { timeoutMs = 0, notice } = options;
  const endMs = performance.now() + timeoutMs;
  let toldMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await openNow(options);
    } catch (error) {
      const nowMs = performance.now();
      if (!mayPass(error) || nowMs >= endMs) throw error;
      if (nowMs - toldMs >= tellEveryMs) {
        toldMs = nowMs;
        notice?.(`${messageOf(error)} Sluice waits for it, ${Math.ceil((endMs - nowMs) / 1_000)} s more at most.`);
      }
      await sleep(Math.min(pauseMs, endMs - nowMs));
    }
  }
}

async function openNow({ address: givenAddress, env, key, log, notice }: Options): Promise<SharedStore> {
  const current = await followAddress(givenAddress, env, log);
  const address = readAddress(current.url);
  const database = await openPostgresDatabase({ url: () => current.url, log }).catch((error: unknown) => {
    current.close();
    throw error;
  });
  const { postgres, notices } = database;
  const close = async () => {
    current.close();
    await database.close();
  };
  const opening = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw startProblem(error, address);
    }
  };
  try {
    const config = await opening(() => openPostgresConfig({ postgres, notices, log }));
    // Reports a wrong key at the start instead of at the first use of a secret.
    const secrets = await opening(() => openSealedSecrets(postgres, key, notices));
    return {
      address,
      postgres,
      config,
      openSecrets: async () => secrets,
      openPeople: () => createPostgresPeopleStore(postgres, notices),
      openStore: (options) => opening(() => openPostgresStore({ database, notice, ...options })),
      readAddress: () => current.read(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

// Opens the durable store in PostgreSQL.

interface OpenStoreOptions extends StoreOptions {
  database: OpenDatabase;
  /** Receives messages for the user, one line each. */
  notice?: ((line: string) => void) | undefined;
}

/** Subfolder of the data folder. */
const spoolName = 'waiting-requests';
const closeMs = 2_000;

/** Opens the store in an open database; closing the store leaves the database open. Rejects with PostgreSQL's error. */
export async function openPostgresStore({
  database,
  dataDir,
  log,
  settings,
  notice,
}: OpenStoreOptions): Promise<Store> {
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
