/**
 * The lock of an unwritable data folder, or of a cassette, which is under version control: the usual lock file in a private
 * temporary folder named after the folder's real path. It keeps other instances of the same user away, unless they have another temporary folder (in
 * another container, or a service with PrivateTmp).
 */
import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import {
  acquireInstanceLock,
  findInstance,
  type InstanceInfo,
  type InstanceLock,
  UnwritableFolder,
} from './instance-lock.ts';

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
