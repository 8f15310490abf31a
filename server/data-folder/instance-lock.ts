/**
 * Ensures that only one process uses a data folder. `instance.json` names the holder. A stale file is recognised by its
 * process, and by whether the address still answers as the same instance.
 */
import { hash, randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { reachableHost } from '../contract/address.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem, isUnwritable, systemErrorCode } from '../ground/files/regular-file.ts';
import { after } from '../ground/timers.ts';

const instanceInfoSchema = z.object({
  pid: z.number().int().positive(),
  /** Unix milliseconds. */
  startedAt: z.number(),
  instanceId: z.string(),
  /** Null until the instance listens. */
  host: z.string().nullable(),
  port: z.number().int().nullable(),
  /** How long its end may take after SIGTERM; absent if it does not say. */
  longestEndMs: z.number().nonnegative().optional(),
});
export type InstanceInfo = z.infer<typeof instanceInfoSchema>;

export interface InstanceAddress {
  port: number;
  host: string;
  instanceId: string;
  longestEndMs?: number;
}

export interface InstanceLock {
  /** Publishes the instance's address, the id that its `/healthz` returns, and how long its end may take. */
  update(address: InstanceAddress): Promise<void>;
  release(): Promise<void>;
}

/** The lock file cannot be written at present. */
export class UnwritableFolder extends GatewayError {
  /** As text for a person. */
  readonly reason: string;

  constructor(path: string, error: unknown) {
    const reason = describeFileProblem(error);
    super('internal', `${path} cannot be written: ${reason}.`);
    this.reason = reason;
  }
}

/** The time from a process's start until it listens; later, a process without a port counts as unrelated. */
const startLimitMs = 30_000;
const attempts = 10;
const retryMs = 30;

/** The locks held by this process: in containers the process id alone does not identify it. */
const heldHere = new Set<string>();

/** Claims the data folder, or returns its holder. Rejects with `UnwritableFolder`. */
export async function acquireInstanceLock(dataDir: string): Promise<InstanceLock | { holder: InstanceInfo }> {
  const path = instanceFile(dataDir);
  const own: InstanceInfo = {
    pid: process.pid,
    startedAt: Date.now(),
    instanceId: randomUUID(),
    host: null,
    port: null,
  };
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (createFile(path, own)) return holdLock(path, own);
    const holder = readInfo(path);
    if (holder && (await isAlive(holder))) return { holder };
    // An unreadable file may be in the middle of being written, so it is retried first.
    if (holder && takeOver(path, holder, own)) return holdLock(path, own);
    if (!holder && attempt > attempts / 2) removeUnreadable(path);
    else await wait(retryMs);
  }
  throw new GatewayError('internal', `${path} cannot be locked: several processes are starting at once. Try again.`);
}

const instanceFile = (dataDir: string) => join(dataDir, 'instance.json');

function holdLock(path: string, own: InstanceInfo): InstanceLock {
  let current = own;
  heldHere.add(current.instanceId);
  const isOurs = () => {
    try {
      return readInfo(path)?.instanceId === current.instanceId;
    } catch {
      return false;
    }
  };
  return {
    update: async (info) => {
      if (!isOurs()) return;
      const next = { ...current, ...info };
      heldHere.add(next.instanceId);
      replaceFile(path, next);
      if (next.instanceId !== current.instanceId) heldHere.delete(current.instanceId);
      current = next;
    },
    release: async () => {
      heldHere.delete(current.instanceId);
      if (isOurs()) rmSync(path, { force: true });
    },
  };
}

/** The holder of the folder, without claiming it. */
export async function findInstance(dataDir: string): Promise<InstanceInfo | undefined> {
  const found = readInfo(instanceFile(dataDir));
  return found && (await isAlive(found)) ? found : undefined;
}

async function isAlive(info: InstanceInfo): Promise<boolean> {
  if (info.pid === process.pid) return heldHere.has(info.instanceId);
  if (!processExists(info.pid)) return false;
  if (info.port === null || info.host === null) return Date.now() - info.startedAt < startLimitMs;
  return answersAsInstance({ host: info.host, port: info.port }, info.instanceId);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

/** False if the file already exists. */
function createFile(path: string, info: InstanceInfo): boolean {
  const file = openNew(path);
  if (file === undefined) return false;
  try {
    writeFileSync(file, JSON.stringify(info));
    return true;
  } catch (error) {
    // On a full disk an empty file remains.
    rmSync(path, { force: true });
    throw notTaken(path, error);
  } finally {
    closeSync(file);
  }
}

/** Undefined if the file already exists. It may belong to another process, so it is not removed. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return undefined;
    throw notTaken(path, error);
  }
}

function notTaken(path: string, error: unknown): GatewayError {
  if (isUnwritable(error)) return new UnwritableFolder(path, error);
  return new GatewayError('internal', `${path} cannot be written: ${describeFileProblem(error)}.`);
}

function replaceFile(path: string, info: InstanceInfo): void {
  const temporary = `${path}.${info.pid}`;
  writeFileSync(temporary, JSON.stringify(info), { mode: 0o600 });
  renameSync(temporary, path);
}

/** Undefined if the file is missing or invalid. Throws if this process has no file descriptors left. */
function readInfo(path: string): InstanceInfo | undefined {
  try {
    return instanceInfoSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (['EMFILE', 'ENFILE'].includes(systemErrorCode(error) ?? '')) throw notTaken(path, error);
    return undefined;
  }
}

/** A process that has not finished its takeover after this time has crashed. */
const takeoverLimitMs = 10_000;

/**
 * Replaces the file of a dead process by this process's own. Only one process at a time may do so, and the file exists
 * throughout, so that no other can create it meanwhile. False if another process was faster.
 */
function takeOver(path: string, stale: InstanceInfo, own: InstanceInfo): boolean {
  const guard = `${path}.takeover`;
  const file = openNew(guard);
  if (file === undefined) {
    removeIfOld(guard);
    return false;
  }
  try {
    closeSync(file);
    if (readInfo(path)?.instanceId !== stale.instanceId) return false;
    replaceFile(path, own);
    return true;
  } catch (error) {
    throw notTaken(path, error);
  } finally {
    rmSync(guard, { force: true });
  }
}

function removeIfOld(guard: string): void {
  const info = statSync(guard, { throwIfNoEntry: false });
  if (info && Date.now() - info.mtimeMs > takeoverLimitMs) rmSync(guard, { force: true });
}

/**
 * Renames the file before checking again that it is unreadable, because removing it by name could remove that of
 * another process.
 */
function removeUnreadable(path: string): void {
  const movedPath = `${path}.${randomUUID()}`;
  try {
    renameSync(path, movedPath);
    if (readInfo(movedPath)) linkSync(movedPath, path);
  } catch (error) {
    if (isUnwritable(error)) throw new UnwritableFolder(path, error);
    // Another process was faster; the next attempt reads the file again.
  }
  rmSync(movedPath, { force: true });
}

const limitMs = 1_500;
const maxReplyBytes = 64 * 1024;
const healthSchema = z.object({ instance: z.string() });

/**
 * Errors that do not mean that the instance has ended. A process without free file descriptors accepts a connection and
 * closes it at once (ECONNRESET or EPIPE here); the other codes mean that this process itself has none left.
 */
const aliveErrorCodes = new Set(['ECONNRESET', 'EPIPE', 'EMFILE', 'ENFILE', 'ENOBUFS']);

/**
 * Whether `GET /healthz` at this address returns the given instance. A process that accepts a connection but does not
 * answer in time, or closes it, counts as the instance: a busy process must not lose its data folder.
 */
function answersAsInstance({ host, port }: { host: string; port: number }, instanceId: string): Promise<boolean> {
  return new Promise((resolve) => {
    let isConnected = false;
    const request = get({ host: reachableHost(host), port, path: '/healthz', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxReplyBytes) request.destroy();
      });
      response.on('end', () => resolve(instanceOf(text) === instanceId));
      response.on('error', () => resolve(false));
    });
    request.on('socket', (socket) => socket.on('connect', () => (isConnected = true)));
    request.on('error', (error) => resolve(aliveErrorCodes.has(systemErrorCode(error) ?? '')));
    const timer = after(() => {
      resolve(isConnected);
      request.destroy();
    }, limitMs);
    request.on('close', () => clearTimeout(timer));
  });
}

function instanceOf(text: string): string | undefined {
  try {
    return healthSchema.parse(JSON.parse(text)).instance;
  } catch {
    return undefined;
  }
}

// The lock of an unwritable data folder, or of a cassette, which is under version control: the usual lock file in a
// private temporary folder named after the folder's real path. It keeps other instances of the same user away,
// unless they have another temporary folder (in another container, or a service with PrivateTmp).

export interface FallbackLock extends InstanceLock {
  /** Private to this user; removed when the lock is released. */
  readonly folder: string;
}

/** Null if no private folder can be created; then only the port keeps other instances away. */
export async function acquireFallbackLock(dataDir: string): Promise<FallbackLock | { holder: InstanceInfo } | null> {
  const folder = folderFor(dataDir);
  if (!makePrivate(folder)) return null;
  const lock = await acquireOrNull(folder);
  if (lock === null || 'holder' in lock) return lock;
  return {
    folder,
    update: lock.update,
    async release() {
      await lock.release();
      // The admin token belongs to this run only.
      rmSync(join(folder, 'admin.token'), { force: true });
      removeIfEmpty(folder);
    },
  };
}

async function acquireOrNull(folder: string): Promise<InstanceLock | { holder: InstanceInfo } | null> {
  try {
    return await acquireInstanceLock(folder);
  } catch (error) {
    if (error instanceof UnwritableFolder) return null;
    throw error;
  }
}

/** The instance that claimed the folder while it was unwritable. */
export async function findFallbackHolder(dataDir: string): Promise<InstanceInfo | undefined> {
  const folder = findFallbackFolder(dataDir);
  return folder === undefined ? undefined : findInstance(folder);
}

/** The fallback folder of an unwritable data folder; undefined if there is none. */
export function findFallbackFolder(dataDir: string): string | undefined {
  const folder = folderFor(dataDir);
  return isPrivate(folder) ? folder : undefined;
}

/** On Linux, TMPDIR is ignored, because it may differ between a service and a terminal. */
function folderFor(dataDir: string): string {
  const root = process.platform === 'linux' ? '/tmp' : tmpdir();
  return join(root, `sluice-${process.getuid?.() ?? 'user'}-${hash('sha256', realpathSync(dataDir)).slice(0, 16)}`);
}

function makePrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') return false;
  }
  return isPrivate(folder);
}

/** Other users can create folders and links at this path; those are never used. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return process.platform === 'win32' || (stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another Sluice is using it.
  }
}
