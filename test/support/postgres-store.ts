import { migrate } from '../../server/store/postgres/migrate.ts';
import { openDatabase } from '../../server/store/postgres/open-database.ts';
import { openPostgresStore } from '../../server/store/postgres/open-postgres-store.ts';
import { Postgres, type PostgresOptions } from '../../server/store/postgres/postgres.ts';
import type { Store, StoreOptions } from '../../server/store/store.ts';

/** The store of one replica, with connections of its own, which end with it. */
export async function openReplicaStore(url: string, options: StoreOptions): Promise<Store> {
  const database = await openDatabase({ url, ...options });
  const store = await openPostgresStore({ database, ...options });
  return {
    ...store,
    async close() {
      await store.close();
      await database.close();
    },
  };
}

/** Connections to a database that has Sluice's tables; it makes those that are missing. */
export async function openTables(
  url: string,
  options: Omit<PostgresOptions, 'url' | 'failed'> = {},
): Promise<Postgres> {
  const postgres = new Postgres({ url, ...options, failed() {} });
  await migrate(postgres);
  return postgres;
}
