/** The operating system's keychain as a store of secrets, and the record of which library wrote what. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { type BusAddress, isDefaultKeyringLocked } from './dbus/secret-service.ts';
import {
  type CallLibrary,
  chooseLibrary,
  foreignItems,
  type KeychainItems,
  keychainFailed,
  type LocateLibrary,
  type OwnItems,
  otherLibrary,
  ownItems,
  reasonOf,
} from './keychain-items.ts';
import { type KeychainLibraryName, keychainLibraryNames } from './keychain-libraries.ts';
import type { KeychainProcess, StartKeychainHelper } from './keychain-process.ts';
import type { SecretStore } from './secret-store.ts';

/** A working keychain answers within milliseconds; one that asks the user to unlock it counts as absent. */
const probeLimitMs = 2_000;
/** Long enough for the user to unlock a keychain that has been locked since. */
const callLimitMs = 30_000;

const probePrefix = 'probe/';

export interface KeychainOptions {
  /** Default: a child process of Node. */
  startKeychainHelper?: StartKeychainHelper | undefined;
  /** Default: those installed beside the program. */
  locateLibrary?: LocateLibrary | undefined;
  sessionBus?: BusAddress;
}

export interface Keychain {
  store: SecretStore;
  record: KeychainRecord;
  /** Why a library that is preferred to the one in use does not load; null if it does. */
  refused: string | null;
  /** Writes, reads and deletes a random item. Resolves with the reason if that fails, otherwise with undefined. */
  probe(): Promise<string | undefined>;
  /** Whether it would now ask the user to unlock it, as far as that can be known without asking: on Linux only. */
  wouldPrompt(): Promise<boolean>;
  /** Deletes items that were superseded before this start, if what superseded them can be read. */
  removeSuperseded(): Promise<void>;
}

/**
 * The operating system's keychain, through the first library that loads: keytar or @napi-rs/keyring, which are optional
 * dependencies. Without any, `probe` gives the reason and all calls reject.
 *
 * @param dataDir must exist; each data folder has its own items
 */
export async function openKeychain(dataDir: string, options: KeychainOptions): Promise<Keychain> {
  const service = keychainServiceName(dataDir);
  const record = openKeychainRecord(join(dataDir, keychainMarkerName));
  const { startKeychainHelper, locateLibrary, sessionBus } = options;
  const { library, refused } = await chooseLibrary(startKeychainHelper, locateLibrary);
  const place = `Credentials are kept in the keychain of the operating system, under the name "${service}"`;
  if (library === undefined) return unloadedKeychain(`${place}.`, record, refused);

  const { name, process: run } = library;
  const call: CallLibrary = async (verb, parameters) => {
    try {
      return await run(verb, parameters, callLimitMs);
    } catch (error) {
      throw keychainFailed(reasonOf(error));
    }
  };
  const inUse: ItemsInUse = {
    library: name,
    own: ownItems(name, service, call, sessionBus),
    foreign: foreignItems(name, service, call, sessionBus),
    record,
  };
  const why = refused && `, through ${name}, because ${refused}`;
  return {
    store: { kind: 'keychain', description: `${place}${why}.`, ...storeOver(inUse) },
    record,
    refused: refused || null,
    probe: () => probe((limited) => ownItems(name, service, limited, sessionBus), run),
    wouldPrompt: async () => process.platform === 'linux' && isDefaultKeyringLocked(sessionBus).catch(() => false),
    removeSuperseded: () => removeSuperseded(inUse),
  };
}

/** Derived from the data folder, so that two data folders do not share secrets. */
function keychainServiceName(dataDir: string): string {
  const folder = realpathSync(resolve(dataDir));
  return `sluice ${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}

function unloadedKeychain(description: string, record: KeychainRecord, refused: string): Keychain {
  const reject = async () => {
    throw keychainFailed(refused);
  };
  return {
    store: { kind: 'keychain', description, get: reject, set: reject, delete: reject, list: reject },
    record,
    refused,
    probe: async () => refused,
    wouldPrompt: async () => false,
    removeSuperseded: async () => {},
  };
}

interface ItemsInUse {
  library: KeychainLibraryName;
  own: OwnItems;
  /** Undefined if both libraries write the same items. */
  foreign: KeychainItems | undefined;
  record: KeychainRecord;
}

/** One call after the other, so that no move writes an old value over a new one. */
function storeOver(inUse: ItemsInUse): Omit<SecretStore, 'kind' | 'description'> {
  const { own, foreign, record } = inUse;
  const inTurn = createSerialQueue();
  return {
    get: (name) => inTurn(() => (foreign ? readEither(inUse, name) : own.read(name))),
    set: (name, value) =>
      inTurn(async () => {
        // So that the next start looks for it here, even if this one ends in between.
        if (!record.exists()) await record.change(() => {});
        await own.write(name, value);
        await record.change((notes) => noteWritten(inUse, notes, name));
      }),
    delete: (name) => inTurn(() => remove(inUse, name)),
    list: () =>
      inTurn(async () => {
        const { written, superseded } = await record.read();
        // A killed probe may have left its item behind, and so may a deleted secret.
        const isSecret = (name: string) => !name.startsWith(probePrefix) && !superseded.has(name);
        return [...new Set([...(await own.list()).filter(isSecret), ...written.keys()])].sort();
      }),
  };
}

async function remove({ library, own, foreign, record }: ItemsInUse, name: string): Promise<void> {
  if (!record.exists()) return own.remove(name);
  await record.change(({ written, superseded }) => {
    written.delete(name);
    if (foreign) superseded.set(name, otherLibrary(library));
  });
  await own.remove(name);
  // If it cannot be reached, it is removed at a later start, and not read until then.
  const isRemoved = await foreign?.remove(name).then(
    () => true,
    () => false,
  );
  if (isRemoved) await record.change(({ superseded }) => superseded.delete(name));
}

/** An item of the other library is from before this write. */
function noteWritten({ library, foreign }: ItemsInUse, notes: KeychainNotes, name: string): void {
  const before = notes.written.get(name) ?? 'keytar';
  if (notes.superseded.get(name) === library) notes.superseded.delete(name);
  if (foreign && before !== library) notes.superseded.set(name, before);
  notes.written.set(name, library);
}

/**
 * Reads the item that is up to date, whichever library wrote it. One of the other library is moved: written by this one,
 * read back, and only then noted as superseded. Rejects if the item may exist but cannot be reached, since the other one may
 * be out of date.
 */
async function readEither(inUse: ItemsInUse, name: string): Promise<string | undefined> {
  const { library, own, foreign, record } = inUse;
  const { written, superseded } = await record.read();
  const first = written.get(name) ?? 'keytar';
  for (const writer of [first, otherLibrary(first)]) {
    if (superseded.get(name) === writer) continue;
    const value = await (writer === library ? own : foreign)?.read(name);
    if (!value) continue;
    if (writer !== library) await move(inUse, name, value);
    return value;
  }
  return undefined;
}

/** If it fails, the item stays where it is, and the next read tries again. */
async function move({ library, own, record }: ItemsInUse, name: string, value: string): Promise<void> {
  try {
    await own.write(name, value);
    if ((await own.read(name)) !== value) return;
  } catch {
    return;
  }
  await record.change(({ written, superseded }) => {
    written.set(name, library);
    superseded.set(name, otherLibrary(library));
  });
}

async function removeSuperseded({ library, own, foreign, record }: ItemsInUse): Promise<void> {
  const { written, superseded } = await record.read();
  for (const [name, writer] of superseded) {
    const itemsOf = (each: KeychainLibraryName) => (each === library ? own : foreign);
    const replacement = written.get(name);
    try {
      // A deleted secret has no replacement.
      if (replacement !== undefined && !(await itemsOf(replacement)?.read(name))) continue;
      await itemsOf(writer)?.remove(name);
    } catch {
      continue;
    }
    await record.change((notes) => notes.superseded.delete(name));
  }
}

async function probe(itemsOver: (call: CallLibrary) => OwnItems, run: KeychainProcess): Promise<string | undefined> {
  const deadlineMs = Date.now() + probeLimitMs;
  const call: CallLibrary = (verb, parameters) => run(verb, parameters, Math.max(1, deadlineMs - Date.now()));
  const items = itemsOver(call);
  const account = `${probePrefix}${randomUUID()}`;
  const value = randomUUID();
  try {
    await items.write(account, value);
    const readBack = await items.read(account);
    await items.remove(account);
    return readBack === value ? undefined : 'it does not give back what was put in';
  } catch (error) {
    return reasonOf(error);
  }
}

export const keychainMarkerName = 'secrets.in-keychain';

const libraries = z.record(z.string(), z.enum(keychainLibraryNames));
const recordSchema = z.object({
  format: z.literal('sluice-keychain'),
  version: z.literal(1),
  written: libraries,
  superseded: libraries,
});

/** Both by the name of the secret. */
interface KeychainNotes {
  /** The library that wrote the secret as it is now; without an entry, it was keytar. */
  written: Map<string, KeychainLibraryName>;
  /** The library whose item is out of date, or deleted: it is never read, and removed at a later start. */
  superseded: Map<string, KeychainLibraryName>;
}

interface KeychainRecord {
  /** Whether any secret was put into the keychain. */
  exists(): boolean;
  read(): Promise<KeychainNotes>;
  /** Creates the file if necessary. */
  change(edit: (notes: KeychainNotes) => void): Promise<void>;
}

/**
 * `secrets.in-keychain`: made before the first secret goes into the keychain, so that its existence says that there are
 * some. It holds no secret, only by which library each was written (since on some systems a library does not find what
 * the other one wrote), and which items of the other library are superseded:
 *
 *   { "format": "sluice-keychain", "version": 1,
 *     "written":    { "provider/main/c1": "@napi-rs/keyring" },
 *     "superseded": { "provider/main/c1": "keytar" } }
 *
 * Earlier versions wrote a sentence and used keytar only.
 */
function openKeychainRecord(path: string): KeychainRecord {
  const inTurn = createSerialQueue();
  const read = async () => notesIn(await readText(path));
  return {
    exists: () => existsSync(path),
    read,
    change: (edit) =>
      inTurn(async () => {
        const before = await readText(path);
        const notes = notesIn(before);
        edit(notes);
        const text = textOf(notes);
        if (text !== before) await writeText(path, text);
      }),
  };
}

function notesIn(text: string | undefined): KeychainNotes {
  const { written, superseded } = parseRecord(text ?? '') ?? { written: {}, superseded: {} };
  return { written: new Map(Object.entries(written)), superseded: new Map(Object.entries(superseded)) };
}

/** Undefined for the sentence of earlier versions, and for a damaged file, which then is worth as much. */
function parseRecord(text: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function textOf({ written, superseded }: KeychainNotes): string {
  const record: z.infer<typeof recordSchema> = {
    format: 'sluice-keychain',
    version: 1,
    written: Object.fromEntries(written),
    superseded: Object.fromEntries(superseded),
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new GatewayError('internal', `${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}

async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFileDurably(path, text);
  } catch (error) {
    throw new GatewayError('internal', `${path} cannot be written: ${describeFileProblem(error)}. Nothing was stored.`);
  }
}
