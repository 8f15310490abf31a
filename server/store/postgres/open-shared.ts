/**
 * Opens everything that replicas share: configuration, secrets and the store. Imported only if a database is
 * configured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigStore } from '../../config/config-store.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { PeopleStore } from '../ports/people-store.ts';
import { messageOf } from '../rules/failures.ts';
import type { Store, StoreOptions } from '../store.ts';
import { type Address, followAddress, readAddress } from './address.ts';
import { openPostgresConfig } from './config-store.ts';
import { mayPass, openPostgresDatabase, startProblem } from './open-database.ts';
import { openPostgresStore } from './open-postgres-store.ts';
import { createPostgresPeopleStore } from './people-store.ts';
import type { Postgres } from './postgres.ts';
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
