import { createHash, randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { z } from 'zod';
import { controlError } from '../contract/control-error.ts';
import { createKeytarProcess, type KeytarProcess, type StartKeytar } from './keychain-process.ts';
import type { SecretStore } from './secret-store.ts';

/** A working keychain answers within milliseconds; one that asks the user to unlock it counts as absent. */
const probeLimitMs = 2_000;
/** Long enough for the user to unlock a keychain that has been locked since. */
const callLimitMs = 30_000;

const probePrefix = 'probe/';

const passwordReply = z.string().nullish();
const credentialsReply = z.array(z.object({ account: z.string() }));

interface KeychainOptions {
  /** Awaited before the first value is stored. */
  beforeFirstSet(): Promise<void>;
  /** Default: a child process of Node. */
  startKeytar?: StartKeytar | undefined;
}

interface Keychain {
  store: SecretStore;
  /** Writes, reads and deletes a random item. Resolves with the reason if that fails, otherwise with undefined. */
  probe(): Promise<string | undefined>;
}

/**
 * The operating system's keychain, through keytar. keytar is an optional dependency: without it, `probe` gives the
 * reason and all calls reject.
 *
 * @param dataDir must exist; each data folder has its own items
 */
export function openKeychain(dataDir: string, { beforeFirstSet, startKeytar }: KeychainOptions): Keychain {
  const service = keychainServiceName(dataDir);
  const keytar = locateKeytar(startKeytar);
  const call = async (...[verb, parameters, limitMs]: Parameters<KeytarProcess>) => {
    try {
      return await keytar(verb, [service, ...parameters], limitMs);
    } catch (error) {
      // keytar's messages contain neither account nor value.
      const reason = error instanceof Error ? error.message : 'unknown error';
      throw controlError('internal', { code: 'keychain-failed', reason });
    }
  };
  let isMarked = false;

  const store: SecretStore = {
    kind: 'keychain',
    description: `Credentials are kept in the keychain of the operating system, under the name "${service}".`,
    get: async (name) => passwordReply.parse(await call('getPassword', [name], callLimitMs)) ?? undefined,
    set: async (name, value) => {
      if (!isMarked) await beforeFirstSet();
      isMarked = true;
      await call('setPassword', [name, value], callLimitMs);
    },
    delete: async (name) => {
      await call('deletePassword', [name], callLimitMs);
    },
    list: async () => {
      const items = credentialsReply.parse(await call('findCredentials', [], callLimitMs));
      const names = items.map((item) => item.account);
      // A killed probe may have left its item behind.
      return names.filter((name) => !name.startsWith(probePrefix)).sort();
    },
  };
  return { store, probe: () => probe(keytar, service) };
}

/** Derived from the data folder, so that two data folders do not share secrets. */
function keychainServiceName(dataDir: string): string {
  const folder = realpathSync(resolve(dataDir));
  return `sluice ${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}

function locateKeytar(start?: StartKeytar): KeytarProcess {
  try {
    return createKeytarProcess(createRequire(import.meta.url).resolve('keytar'), start);
  } catch {
    return async () => {
      throw new Error('the optional package keytar is not installed');
    };
  }
}

async function probe(keytar: KeytarProcess, service: string): Promise<string | undefined> {
  const deadlineMs = Date.now() + probeLimitMs;
  const account = `${probePrefix}${randomUUID()}`;
  const value = randomUUID();
  const call: (...call: [Parameters<KeytarProcess>[0], ...string[]]) => Promise<unknown> = (verb, ...rest) =>
    keytar(verb, [service, account, ...rest], Math.max(1, deadlineMs - Date.now()));
  try {
    await call('setPassword', value);
    const readBack = await call('getPassword');
    await call('deletePassword');
    return readBack === value ? undefined : 'it does not give back what was put in';
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown error';
  }
}
