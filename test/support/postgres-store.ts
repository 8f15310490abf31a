import { expect } from 'vitest';
import { openPostgresConfig } from '../../server/store/postgres/config-store.ts';
import { Notices } from '../../server/store/postgres/notices.ts';
import { migratePostgres, openPostgresDatabase } from '../../server/store/postgres/open-database.ts';
import { openPostgresStore } from '../../server/store/postgres/open-shared.ts';
import { Postgres, type PostgresOptions } from '../../server/store/postgres/postgres.ts';
import type { Store, StoreOptions } from '../../server/store/store.ts';
import { silent } from '../server/store/sqlite/records.ts';

export const open = (url: string) => openPostgresDatabase({ url, log: silent });

/** The single line of the error that opening the database throws. */
export async function problemWith(url: string): Promise<string> {
  const thrown = await open(url).then(
    () => new Error('it was opened'),
    (error: Error) => error,
  );
  expect(thrown.message).not.toContain('secret');
  expect(thrown.message).not.toContain('\n');
  return thrown.message;
}

/** The store of one replica with its own connections, which are closed with it. */
export async function openReplicaStore(url: string, options: StoreOptions): Promise<Store> {
  const database = await openPostgresDatabase({ url, ...options });
  const store = await openPostgresStore({ database, ...options });
  return {
    ...store,
    async close() {
      await store.close();
      await database.close();
    },
  };
}

/** Connections to a database with Sluice's tables; creates the missing ones. */
export async function openTables(
  url: string,
  options: Omit<PostgresOptions, 'url' | 'failed'> = {},
): Promise<Postgres> {
  const postgres = new Postgres({ url, ...options, failed() {} });
  await migratePostgres(postgres);
  return postgres;
}

export interface ConfigConnecting extends Pick<PostgresOptions, 'connections' | 'statementMs' | 'connectMs'> {
  /** Default one day, so that changes arrive only through notices. */
  pollMs?: number;
}

/**
 * The configuration store of one replica with its own connections. The functions that close them are added to
 * `closing`.
 */
export async function openReplicaConfig(
  url: string,
  closing: (() => Promise<void>)[],
  { pollMs = 86_400_000, ...connecting }: ConfigConnecting = {},
) {
  const postgres = await openTables(url, connecting);
  const notices = new Notices({ url, log: silent, pollMs, reconnectMs: 20 });
  closing.push(
    () => postgres.close(),
    () => notices.close(),
  );
  const config = await openPostgresConfig({ postgres, notices, log: silent });
  return { config, postgres };
}
