import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../files/durable-file.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { encryptedFileName, openEncryptedFile } from './encrypted-file.ts';
import { openKeychain } from './keychain.ts';
import type { StartKeytar } from './keychain-process.ts';
import type { SecretStore } from './secret-store.ts';

/** Made when the first secret goes into the keychain; its existence is what counts. */
export const keychainMarkerName = 'secrets.in-keychain';

export interface SecretStoreOptions {
  /** Must exist. */
  dataDir: string;
  /** Protects the encrypted file in place of its key file. */
  passphrase?: string | undefined;
  /** `auto`: what already holds secrets; else the keychain if it answers; else the encrypted file. */
  prefer?: 'auto' | 'keychain' | 'file';
  /** Absent: a child process that is Node. */
  startKeytar?: StartKeytar | undefined;
}

export interface OpenedSecretStore {
  store: SecretStore;
  /** Where secrets are, if that is not the keychain: to be said where Sluice starts, not at each verb. */
  choice: string | null;
  /** What a person should be told besides, a line each; no secrets. */
  notices: string[];
}

/**
 * Decides where the secrets of a data folder are and opens that store. What already holds secrets goes on holding them,
 * even if a keychain appears later or is not there today; else secrets would seem lost. To move, set `prefer` and enter
 * them again. Rejects with a GatewayError if the chosen store exists but does not open.
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
  // An empty variable in the environment is no passphrase.
  const store = await openEncryptedFile(dataDir, passphrase || undefined);
  return { store, choice: `${reason}${store.description}`, notices: [] };
}

function keychainAway(problem: string): string {
  return `The OS keychain that holds the credentials does not answer now (${problem}): providers whose credentials are in it fail until it does and Sluice is started again.`;
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
