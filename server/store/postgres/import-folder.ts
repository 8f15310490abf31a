/** `sluice migrate`: copies a data folder into a database. The folder itself is not changed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createConfPersistence } from '../../config/conf-persistence.ts';
import { type ConfigStore, openConfigStore } from '../../config/config-store.ts';
import { GatewayError } from '../../contract/errors.ts';
import { encryptedFileName } from '../../secrets/encrypted-file.ts';
import { openSecretStore } from '../../secrets/open-secret-store.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { openLocalStore } from '../local-store.ts';
import { openSqliteDatabase as openSqlite } from '../sqlite/database.ts';
import { keptResponseMigrations } from '../sqlite/kept-response-rows.ts';
import type { StoreOptions } from '../store.ts';
import type { Compared } from './import-compare.ts';
import { importFiles } from './import-sqlite.ts';
import { openSharedStore, type SharedStore } from './open-shared.ts';
import type { OutsideKey } from './outside-key.ts';

interface Options {
  /** Already locked by the caller. */
  dataDir: string;
  /** `postgres://user:password@host:port/database`, or a reference to it; secret. */
  address: string;
  env: Readonly<Record<string, string | undefined>>;
  key: OutsideKey;
  /** Where the secrets of the data folder are. */
  secrets: 'auto' | 'keychain' | 'file';
  sessionBus?: string | undefined;
  log: StoreOptions['log'];
  /** Called with the number of requests copied so far. */
  progress(requests: number): void;
}

interface Imported {
  compared: Compared[];
  /** The number of secrets. */
  secrets: number;
  /** What was left out, one line each. */
  notices: string[];
}

/** Rejects with a GatewayError if the database holds a different configuration; nothing is copied then. */
export async function importFolder(options: Options): Promise<Imported> {
  const { dataDir, address, env, key, log, progress } = options;
  const config = await openConfigStore({ persistence: createConfPersistence(join(dataDir, 'config.json')) });
  const sharedStore = await openSharedStore({ address, env, key, log });
  try {
    checkConfig(config, sharedStore.config);
    const copiedSecrets = await copySecrets(options, sharedStore);
    if (sharedStore.config.isFirstRun && !config.isFirstRun) await sharedStore.config.commit(config.current.config);
    // Migrates the files, and marks the requests that an earlier process left unfinished.
    await openLocalStore({ dataDir, log, settings: () => config.current.config.settings }).close();
    const ledger = openSqlite(join(dataDir, 'ledger.sqlite'));
    const responses = openSqlite(join(dataDir, 'responses.sqlite'), keptResponseMigrations);
    try {
      return {
        ...copiedSecrets,
        notices: [...config.removed, ...copiedSecrets.notices],
        compared: await importFiles({ ledger, responses }, { postgres: sharedStore.postgres, progress }),
      };
    } finally {
      ledger.close();
      responses.close();
    }
  } finally {
    await sharedStore.close();
  }
}

/** An equal configuration exists if an import is repeated. */
function checkConfig(local: ConfigStore, shared: ConfigStore): void {
  if (local.isFirstRun || shared.isFirstRun || isDeepStrictEqual(local.current.config, shared.current.config)) return;
  throw new GatewayError(
    'conflict',
    'The database holds another configuration already. Nothing was copied. Name a new database.',
  );
}

async function copySecrets({ dataDir, key, secrets: prefer, sessionBus }: Options, sharedStore: SharedStore) {
  const isByPassphrase = await needsPassphrase(dataDir);
  const passphrase = isByPassphrase ? key.passphrase : undefined;
  const { store } = await openSecretStore({ dataDir, passphrase, sessionBus, prefer });
  const to = await sharedStore.openSecrets();
  const names = await store.list();
  if (key.passphrase === undefined && key.keyFile === undefined) {
    const notice = `${names.length} secrets were left out: set SLUICE_PASSPHRASE or SLUICE_KEY_FILE to encrypt them, and repeat.`;
    return { secrets: 0, notices: names.length === 0 ? [] : [notice] };
  }
  return { secrets: await copyAll(names, store, to), notices: [] };
}

async function copyAll(names: readonly string[], from: SecretStore, to: SecretStore): Promise<number> {
  for (const name of names) {
    const value = await from.get(name);
    if (value !== undefined) await to.set(name, value);
  }
  return names.length;
}

/** If a key file lies beside the secrets, opening them with a passphrase would change them. */
async function needsPassphrase(dataDir: string): Promise<boolean> {
  const content = await readFile(join(dataDir, encryptedFileName), 'utf8').catch(() => '');
  return content.includes('"from":"passphrase"');
}
