/** The API tokens for team gateways to which this user has signed in, in a separate secret store. */
import { mkdir } from 'node:fs/promises';
import { loginsFolder } from '../../secrets/encrypted-file.ts';
import { openSecretStore, type SecretStoreOptions } from '../../secrets/open-secret-store.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';

export interface Logins {
  /** By the gateway's origin. */
  find(origin: string): Promise<string | undefined>;
  keep(origin: string, token: string): Promise<void>;
  forget(origin: string): Promise<void>;
}

/** Separate from the data folder's own secrets, which a running Sluice may be writing. */
export function openLogins(dataDir: string, options: Omit<SecretStoreOptions, 'dataDir'>): Logins {
  const folder = loginsFolder(dataDir);
  let opened: Promise<SecretStore> | undefined;
  const store = () => {
    opened ??= open();
    return opened;
  };
  const open = async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return (await openSecretStore({ ...options, dataDir: folder })).store;
  };
  return {
    find: async (origin) => (await store()).get(nameOf(origin)),
    keep: async (origin, token) => (await store()).set(nameOf(origin), token),
    forget: async (origin) => (await store()).delete(nameOf(origin)),
  };
}

const nameOf = (origin: string) => `gateway/${origin}`;

/** Kept in memory only, for an engine without a data folder. */
export function rememberLogins(): Logins {
  const tokens = new Map<string, string>();
  return {
    find: async (origin) => tokens.get(origin),
    keep: async (origin, token) => void tokens.set(origin, token),
    forget: async (origin) => void tokens.delete(origin),
  };
}
