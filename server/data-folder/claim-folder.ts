/** The data folder of one instance: made, protected, and claimed. */

import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { temporaryInfix } from '../ground/files/durable-file.ts';
import { describeFileProblem, isUnwritable } from '../ground/files/regular-file.ts';
import { every } from '../ground/timers.ts';
import {
  acquireFallbackLock,
  acquireInstanceLock,
  findFallbackHolder,
  type InstanceAddress,
  type InstanceInfo,
  type InstanceLock,
  UnwritableFolder,
} from './instance-lock.ts';

/** A data folder claimed by this process until the lock is released. */
export interface ClaimedFolder {
  folder: DataFolder;
  lock: InstanceLock;
  /** A private, writable folder to use while the data folder is not writable; null if there is none. */
  fallbackFolder: string | null;
}

/**
 * Prepares and claims the folder, or returns its holder. An existing folder that is not writable at present is used as
 * it is, and claimed once it is writable. Rejects with a GatewayError if it cannot be used.
 */
export async function claimFolder(dataDir: string): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const folder = prepareDataFolder(dataDir);
  const holder = await findFallbackHolder(folder.path);
  if (holder) return { holder };
  try {
    const lock = await acquireInstanceLock(folder.path);
    return 'holder' in lock
      ? lock
      : { folder, lock: new DeferredLock(folder.path, { lock, fallback: null }), fallbackFolder: null };
  } catch (error) {
    if (!(error instanceof UnwritableFolder)) throw error;
    return claimUnwritable({ ...folder, problem: folder.problem ?? error.reason });
  }
}

async function claimUnwritable(folder: DataFolder): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const fallback = await acquireFallbackLock(folder.path);
  if (fallback && 'holder' in fallback) return fallback;
  const lock = new DeferredLock(folder.path, { lock: null, fallback });
  return { folder, lock, fallbackFolder: fallback?.folder ?? null };
}

const retryMs = 10_000;

/**
 * A lock whose file may be unwritable for a while. Until it is written, the fallback lock keeps other instances away.
 */
class DeferredLock implements InstanceLock {
  readonly #dataDir: string;
  readonly #fallback: InstanceLock | null;
  #lock: InstanceLock | null;
  #address: InstanceAddress | undefined;
  #retries: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(dataDir: string, { lock, fallback }: { lock: InstanceLock | null; fallback: InstanceLock | null }) {
    this.#dataDir = dataDir;
    this.#fallback = fallback;
    this.#lock = lock;
    if (!lock) this.#retry();
  }

  async update(address: InstanceAddress): Promise<void> {
    this.#address = address;
    await this.#fallback?.update(address);
    await this.#settle();
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#retries);
    await this.#lock?.release();
    await this.#fallback?.release();
  }

  #retry(): void {
    this.#retries ??= every(() => this.#settle(), retryMs).unref();
  }

  async #settle(): Promise<void> {
    try {
      this.#lock ??= await this.#acquired();
      if (this.#isReleased) await this.#lock?.release();
      else if (this.#lock && this.#address) await this.#lock.update(this.#address);
      if (this.#lock) clearInterval(this.#retries);
    } catch {
      // Already reported at the start, and by the ledger's health.
      if (!this.#isReleased) this.#retry();
    }
  }

  /** Null if another Sluice was faster. */
  async #acquired(): Promise<InstanceLock | null> {
    const lock = await acquireInstanceLock(this.#dataDir);
    return 'holder' in lock ? null : lock;
  }
}

// Creates the data folder, which contains configuration, secrets, ledger, logs and temporary uploads, and sets its
// permissions.

interface DataFolder {
  path: string;
  /** For uploads in progress. */
  tmpPath: string;
  logsPath: string;
  /** Messages for the user, one line each. */
  notices: string[];
  /** Why the folder cannot be written at present, as text for a person; null if it can. */
  problem: string | null;
}

/** Marks a folder whose content may be deleted, for Sluice and for backup programs (bford.info/cachedir). */
const cacheDirTag = 'CACHEDIR.TAG';
const cacheDirTagText =
  'Signature: 8a477f597d28d172789f06886806bc55\n# Uploads of Sluice on their way; removed at its start.\n';

/** The names of all files in a data folder; other files in it are not touched. */
const ownFiles =
  /^(config\.json|config\..+\.json|secrets\..+|instance\.json|models\.json|team-presets\.json|window-sessions\.json|admin\.token|[a-z-]+\.sqlite(-wal|-shm)?)$/;
/** The admin token is replaced when opened if others could read it, so its permissions must not be corrected before. */
const renewedWhereOpen = /^admin\.token$/;
const othersBits = 0o077;
const stickyBit = 0o1000;

/**
 * Creates the folder and its subfolders, private to this user, and corrects permissions that are too open. Safe while
 * another Sluice is running on it. Throws a GatewayError if the folder cannot be used.
 */
export function prepareDataFolder(path: string): DataFolder {
  const [tmpPath, logsPath] = [join(path, 'tmp'), join(path, 'logs')];
  const folder: DataFolder = { path, tmpPath, logsPath, notices: [], problem: null };
  try {
    makeFolder(path);
    refuseSharedFolder(path);
    prepareTmp(folder.tmpPath);
    makeFolder(folder.logsPath);
    tryWriting(join(folder.tmpPath, `probe-${process.pid}`));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (!isUnwritable(error) || !isFolder(path)) throw unusable(path, describeFileProblem(error));
    folder.problem = describeFileProblem(error);
  }
  folder.notices.push(...closePermissions(folder));
  return folder;
}

export function unusable(path: string, problem: string): GatewayError {
  return new GatewayError(
    'internal',
    `The data folder ${path} cannot be used: ${problem}. Choose another with --data-dir, or make it writable for this user.`,
  );
}

/** Writes content, because an empty file can be created even on a full disk. */
function tryWriting(probe: string): void {
  try {
    writeFileSync(probe, Buffer.alloc(4096));
  } finally {
    rmSync(probe, { force: true });
  }
}

/** The notice for a start on an unwritable folder. */
export function unwritableNotice({ path, problem }: DataFolder): string {
  return (
    `The data folder ${path} cannot be written: ${problem}. Requests are served with the configuration that is there; ` +
    'what is asked is not recorded and no change can be made until the folder can be written, which is noticed by itself.'
  );
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Removes uploads and temporary files left by a killed process. Requires the instance lock. */
export function removeLeftovers({ path, tmpPath }: DataFolder): void {
  if (existsSync(join(tmpPath, cacheDirTag))) {
    for (const name of readdirSync(tmpPath)) {
      if (name !== cacheDirTag) rmSync(join(tmpPath, name), { recursive: true, force: true });
    }
  }
  for (const name of readdirSync(path)) {
    if (isHalfWritten(name)) rmSync(join(path, name), { force: true });
  }
}

/** A shared folder such as /tmp must not be made private, and cannot be trusted. */
function refuseSharedFolder(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & stickyBit) === 0) return;
  throw new GatewayError(
    'internal',
    `The data folder ${path} is shared by all users. Choose a folder in it, with --data-dir.`,
  );
}

/** Called without `recursive`, which reports ENOENT on a read-only disk and never returns below `/proc` (Node 24). */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Tags only a folder that it creates: an existing one may contain other files and must never be emptied. */
function prepareTmp(tmpPath: string): void {
  makeFolder(tmpPath);
  if (readdirSync(tmpPath).length === 0) writeFileSync(join(tmpPath, cacheDirTag), cacheDirTagText);
}

/** `conf` and `writeFileDurably` name temporary files `NAME.tmp-` followed by 16 digits. */
function isHalfWritten(name: string): boolean {
  const [file, suffix] = name.split(temporaryInfix);
  return ownFiles.test(file ?? '') && /^[0-9a-f]{16}$/.test(suffix ?? '');
}

/**
 * Returns a notice for each file that remains accessible to others, and one if others could have read the key of the
 * secrets.
 */
function closePermissions({ path, tmpPath, logsPath }: DataFolder): string[] {
  if (process.platform === 'win32') return [];
  const secretsKey = join(path, 'secrets.key');
  const wasOpen = isOpenToOthers(path) && isOpenToOthers(secretsKey);
  const files = readdirSync(path).filter((name) => ownFiles.test(name) && !renewedWhereOpen.test(name));
  const all = [path, tmpPath, logsPath, ...files.map((name) => join(path, name))];
  const open = all.flatMap((each) => makePrivate(each) ?? []);
  // As Kubernetes makes a volume of a pod with `fsGroup`, which is root's (mode 2777).
  if (isOpenToOthers(path)) open.push(`Choose a folder in ${path} with --data-dir: Sluice makes it for itself alone.`);
  return [...open, ...(wasOpen ? [keyWasOpen(secretsKey)] : [])];
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & othersBits) !== 0;
}

function makePrivate(path: string): string | undefined {
  try {
    if (isOpenToOthers(path)) chmodSync(path, statSync(path).mode & 0o700);
    return undefined;
  } catch (error) {
    return `${path} can be read by other users of this machine, and that cannot be changed: ${describeFileProblem(error)}.`;
  }
}

function keyWasOpen(path: string): string {
  return `${path} could be read by other users of this machine until now: if anybody else uses it, replace the credentials of your providers.`;
}
