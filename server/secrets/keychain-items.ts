/** The items of the operating system's keychain, through whichever library reaches it. */

import { createRequire } from 'node:module';
import { z } from 'zod';
import { controlError } from '../contract/control-error.ts';
import type { GatewayError } from '../contract/errors.ts';
import { type BusAddress, deleteItem, findItems, readItem } from './dbus/secret-service.ts';
import {
  type KeychainLibraryName,
  type KeychainVerb,
  keychainForms,
  keychainLibraryNames,
} from './keychain-libraries.ts';
import { createKeychainProcess, type KeychainProcess, type StartKeychainHelper } from './keychain-process.ts';

const passwordReply = z.string().nullish();
const credentialsReply = z.array(z.object({ account: z.string(), password: z.string() }));

/** Calls the library in use. */
export type CallLibrary = (verb: KeychainVerb, parameters: string[]) => Promise<unknown>;

/** What one library wrote under a service. All methods reject while it cannot be reached. */
export interface KeychainItems {
  read(name: string): Promise<string | undefined>;
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>;
}

export interface OwnItems extends KeychainItems {
  write(name: string, value: string): Promise<void>;
  /** Names as far as they can be listed; on Linux also those that the other library wrote. */
  list(): Promise<string[]>;
}

/** Through the library that wrote them, which is in use. */
export function ownItems(library: KeychainLibraryName, service: string, call: CallLibrary, bus: BusAddress): OwnItems {
  return {
    read: async (name) => passwordReply.parse(await call('getPassword', [service, name])) ?? undefined,
    write: async (name, value) => void (await call('setPassword', [service, name, value])),
    remove: async (name) => void (await call('deletePassword', [service, name])),
    list: () => {
      if (process.platform === 'win32' && library === '@napi-rs/keyring') return Promise.resolve([]);
      return process.platform === 'darwin' || process.platform === 'win32'
        ? listByLibrary(service, call)
        : listByBus(service, bus);
    },
  };
}

async function listByLibrary(service: string, call: CallLibrary): Promise<string[]> {
  return credentialsReply.parse(await call('findCredentials', [service])).map(({ account }) => account);
}

/** keytar's own search crashes on an item without `account`, as @napi-rs/keyring writes them (`strdup` of null). */
async function listByBus(service: string, bus: BusAddress): Promise<string[]> {
  const items = await findItems(bus, { service }).catch(failed);
  return items.flatMap(({ account, username }) => account ?? username ?? []);
}

/**
 * What the other library wrote, without that library, which may not load here; undefined on a system where both write the
 * same items.
 */
export function foreignItems(
  library: KeychainLibraryName,
  service: string,
  call: CallLibrary,
  bus: BusAddress,
): KeychainItems | undefined {
  const forms = keychainForms(process.platform);
  const form = forms[otherLibrary(library)];
  if (form === forms[library]) return undefined;
  if (process.platform === 'win32') {
    const targetOf = (name: string) => form.item(service, name).target ?? '';
    return library === 'keytar' ? keyringTargets(targetOf, call) : keytarTargets(service, targetOf, call);
  }
  return {
    read: (name) => readItem(bus, form.item(service, name)).catch(failed),
    remove: (name) => deleteItem(bus, form.item(service, name)).catch(failed),
  };
}

function failed(error: unknown): never {
  throw keychainFailed(reasonOf(error));
}

export function keychainFailed(reason: string): GatewayError {
  return controlError('internal', { code: 'keychain-failed', reason });
}

export function otherLibrary(library: KeychainLibraryName): KeychainLibraryName {
  return library === keychainLibraryNames[0] ? keychainLibraryNames[1] : keychainLibraryNames[0];
}

type TargetOf = (name: string) => string;

/** keytar joins service and account with a slash to a target name, so it reaches any with a slash in it, as ours have. */
function keyringTargets(targetOf: TargetOf, call: CallLibrary): KeychainItems {
  const split = (name: string) => {
    const target = targetOf(name);
    const slash = target.indexOf('/');
    return [target.slice(0, slash), target.slice(slash + 1)];
  };
  return {
    read: async (name) => passwordReply.parse(await call('getPassword', split(name))) ?? undefined,
    remove: async (name) => void (await call('deletePassword', split(name))),
  };
}

/**
 * @napi-rs/keyring reads another's target name only in a search, which decodes values as UTF-16: those with an even number
 * of bytes come back whole from that, those with an odd number make it reject.
 */
function keytarTargets(service: string, targetOf: TargetOf, call: CallLibrary): KeychainItems {
  return {
    read: async (name) => {
      const found = credentialsReply.parse(await call('findCredentials', [service, targetOf(name)]));
      const item = found.find(({ account }) => account === name);
      return item && Buffer.from(item.password, 'utf16le').toString('utf8');
    },
    remove: async (name) => void (await call('deleteTarget', [targetOf(name), service, name])),
  };
}

/** Longer than a library takes to load; one that hangs is like one that is not there. */
const loadLimitMs = 5_000;

/** The absolute path of a library's main file; undefined if it is not installed. */
export type LocateLibrary = (name: KeychainLibraryName) => string | undefined;

interface KeychainChoice {
  /** The first library that loads; undefined if none does. */
  library: { name: KeychainLibraryName; process: KeychainProcess } | undefined;
  /** Why each library before it does not load, in one phrase; empty if there is none. */
  refused: string;
}

/** Loads the libraries in turn, in a process of their own, since a binary for another system can end it. */
export async function chooseLibrary(
  startHelper: StartKeychainHelper | undefined,
  locate: LocateLibrary = locateInstalled,
): Promise<KeychainChoice> {
  const refused: string[] = [];
  for (const name of keychainLibraryNames) {
    const path = locate(name);
    if (path === undefined) {
      refused.push(`${name} is not installed`);
      continue;
    }
    const process = createKeychainProcess(path, startHelper);
    try {
      await process('load', [], loadLimitMs);
      return { library: { name, process }, refused: refused.join('; ') };
    } catch (error) {
      refused.push(`${name} does not load: ${reasonOf(error)}`);
    }
  }
  return { library: undefined, refused: refused.join('; ') };
}

/** The messages of both libraries contain neither account nor value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

function locateInstalled(name: KeychainLibraryName): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}
