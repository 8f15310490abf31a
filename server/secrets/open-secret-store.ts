import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem } from '../ground/files/file-problem.ts';
import { encryptedFileName, openEncryptedFile } from './encrypted-file.ts';
import { openKeychain } from './keychain.ts';
import type { StartKeytar } from './keychain-process.ts';
import type { SecretStore } from './secret-store.ts';

/** Created with the first secret in the keychain. Only its existence matters. */
export const keychainMarkerName = 'secrets.in-keychain';

export interface SecretStoreOptions {
  /** Must exist. */
  dataDir: string;
  /** Protects the encrypted file instead of a key file. */
  passphrase?: string | undefined;
  /** `auto`: the store that already has secrets; otherwise the keychain if it works; otherwise the encrypted file. */
  prefer?: 'auto' | 'keychain' | 'file';
  /** Default: a child process of Node. */
  startKeytar?: StartKeytar | undefined;
}

interface OpenedSecretStore {
  store: SecretStore;
  /** Where secrets are stored if they are not in the keychain; printed by `serve` only. */
  choice: string | null;
  /** Further messages for the user, one line each, without secrets. */
  notices: string[];
}

/**
 * Chooses and opens the secret store of a data folder. A store that has secrets stays in use, even if a keychain
 * appears later or is temporarily absent; otherwise secrets would seem lost. To change stores, set `prefer` and enter
 * them again. Rejects with a GatewayError if the chosen store exists but cannot be opened.
 */
export async function openSecretStore(options: SecretStoreOptions): Promise<OpenedSecretStore> {
  const { dataDir, prefer = 'auto', startKeytar } = options;
  const fileHolds = existsSync(join(dataDir, encryptedFileName));
  const keychainHolds = existsSync(join(dataDir, keychainMarkerName));
  if (prefer === 'file' || (prefer === 'auto' && fileHolds)) return openFile(options);

  const keychain = openKeychain(dataDir, { startKeytar, beforeFirstSet: () => markKeychain(dataDir) });
  const problem = await keychain.probe();
  if (problem === undefined) return { store: keychain.store, choice: null, notices: [] };
  if (prefer === 'keychain') throw new GatewayError('internal', `No OS keychain answers here (${problem}).`);
  if (keychainHolds) return { store: keychain.store, choice: null, notices: [keychainAway(problem)] };
  return openFile(options, `No OS keychain answers here (${problem}). `);
}

async function openFile({ dataDir, passphrase }: SecretStoreOptions, reason = ''): Promise<OpenedSecretStore> {
  // An empty environment variable is not a passphrase.
  const store = await openEncryptedFile(dataDir, passphrase || undefined);
  return { store, choice: `${reason}${store.description}`, notices: [] };
}

function keychainAway(problem: string): string {
  return `The OS keychain that holds the credentials does not respond (${problem}). Providers whose credentials are in it fail until it responds and Sluice is restarted.`;
}

async function markKeychain(dataDir: string): Promise<void> {
  const path = join(dataDir, keychainMarkerName);
  try {
    await writeFileDurably(
      path,
      "This folder's secrets are in the keychain of the operating system; none is in here.\n",
    );
  } catch (error) {
    throw new GatewayError('internal', `${path} cannot be written: ${describeFileProblem(error)}. Nothing was stored.`);
  }
}
