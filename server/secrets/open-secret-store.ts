import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import { encryptedFileName, openEncryptedFile } from './encrypted-file.ts';
import { type Keychain, type KeychainOptions, openKeychain } from './keychain.ts';
import type { SecretStore } from './secret-store.ts';

export interface SecretStoreOptions extends KeychainOptions {
  /** Must exist. */
  dataDir: string;
  /** Protects the encrypted file instead of a key file. */
  passphrase?: string | undefined;
  /** `auto`: the store that already has secrets; otherwise the keychain if it works; otherwise the encrypted file. */
  prefer?: 'auto' | 'keychain' | 'file';
}

interface OpenedSecretStore {
  store: SecretStore;
  /** Where secrets are stored, unless it is the keychain through keytar; printed by `serve` only. */
  choice: string | null;
  /** Further messages for the user, one line each, without secrets. */
  notices: string[];
  /** Deletes what another item has superseded before this start; for whoever uses the store, once. */
  removeSuperseded(): Promise<void>;
}

/**
 * Chooses and opens the secret store of a data folder. A store that has secrets stays in use, even if a keychain
 * appears later or is temporarily absent; otherwise secrets would seem lost. (That a configuration refers to the keychain
 * does not say that it has any: an imported one has references to secrets that were never entered here.) To change stores, set `prefer` and enter
 * them again. Rejects with a GatewayError if the chosen store exists but cannot be opened.
 */
export async function openSecretStore(options: SecretStoreOptions): Promise<OpenedSecretStore> {
  const { dataDir, prefer = 'auto' } = options;
  const fileHolds = existsSync(join(dataDir, encryptedFileName));
  if (prefer === 'file' || (prefer === 'auto' && fileHolds)) return openFile(options);

  const open = () => openKeychain(dataDir, options);
  const keychain = await open();
  const problem = await keychain.probe();
  const { store, record, refused, removeSuperseded } = keychain;
  if (problem === undefined) {
    return { store, choice: refused === null ? null : store.description, notices: [], removeSuperseded };
  }
  if (prefer === 'keychain') throw new GatewayError('internal', `No OS keychain answers here (${problem}).`);
  if (!record.exists()) return openFile(options, `No OS keychain answers here (${problem}). `);
  const names = [...(await record.read()).written.keys()].sort();
  return {
    store: keychainAway(keychain, problem, open),
    choice: null,
    notices: [describeAway(problem, names)],
    removeSuperseded: async () => {},
  };
}

async function openFile({ dataDir, passphrase }: SecretStoreOptions, reason = ''): Promise<OpenedSecretStore> {
  // An empty environment variable is not a passphrase.
  const store = await openEncryptedFile(dataDir, passphrase || undefined);
  return { store, choice: `${reason}${store.description}`, notices: [], removeSuperseded: async () => {} };
}

function describeAway(problem: string, names: string[]): string {
  const known = names.length > 0 ? ` Out of reach until then: ${names.join(', ')}.` : '';
  return `The OS keychain that holds the credentials does not respond (${problem}). Providers whose credentials are in it fail until it responds; nothing takes its place.${known}`;
}

/** At the start, all secrets are asked for one after the other, and each would wait for the same. */
const retryMs = 10_000;

/**
 * A keychain that holds secrets but does not respond. It stays the store, so that nothing else replaces what is in it: all
 * calls reject with a GatewayError `storage_unavailable`, at once, until it responds again.
 *
 * @param open opens the keychain anew, since the library that did not load may load later
 */
function keychainAway(first: Keychain, firstProblem: string, open: () => Promise<Keychain>): SecretStore {
  let keychain = first;
  let problem: string | undefined = firstProblem;
  let triedAtMs = Date.now();
  const outOfReach = new Set<string>();

  const tryAgain = async () => {
    triedAtMs = Date.now();
    keychain = await open();
    problem = await keychain.probe();
    if (problem === undefined) outOfReach.clear();
  };
  /** `isPersonAsking`: someone is there who may unlock it. */
  const reach = async (name: string | null, isPersonAsking: boolean): Promise<SecretStore> => {
    if (problem !== undefined && isPersonAsking) await tryAgain();
    else if (problem !== undefined && Date.now() - triedAtMs >= retryMs && !(await keychain.wouldPrompt()))
      await tryAgain();
    if (problem === undefined) return keychain.store;
    if (name !== null) outOfReach.add(name);
    throw controlError('storage_unavailable', { code: 'keychain-failed', reason: problem });
  };

  return {
    kind: 'keychain',
    get description() {
      if (problem === undefined) return keychain.store.description;
      const names = outOfReach.size > 0 ? ` Out of reach until then: ${[...outOfReach].sort().join(', ')}.` : '';
      return `${keychain.store.description} It does not respond (${problem}), and nothing takes its place.${names}`;
    },
    get: async (name) => (await reach(name, false)).get(name),
    set: async (name, value) => (await reach(null, true)).set(name, value),
    delete: async (name) => (await reach(null, true)).delete(name),
    list: async () => (await reach(null, false)).list(),
  };
}
