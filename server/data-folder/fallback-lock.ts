/**
 * The lock of a data folder that cannot be written: the same file as elsewhere, in a private folder among the system's
 * temporary files that is named after the data folder's real path. It keeps a second Sluice of the same user away; one
 * that has other temporary files (another container, a service with a private /tmp) does not see it.
 */
import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../files/file-problem.ts';
import {
  acquireInstanceLock,
  findInstance,
  type InstanceInfo,
  type InstanceLock,
  UnwritableFolder,
} from './instance-lock.ts';

export interface FallbackLock extends InstanceLock {
  /** Only this user can look into it; removed with the release. */
  readonly folder: string;
}

/** Null where no private folder can be made; then nothing but the port keeps another Sluice away. */
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
      // What else was kept there is of this run only.
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

/** Who took the folder while it could not be written. */
export async function findFallbackHolder(dataDir: string): Promise<InstanceInfo | undefined> {
  const folder = findFallbackFolder(dataDir);
  return folder === undefined ? undefined : findInstance(folder);
}

/** Where the one that runs on an unwritable data folder keeps its lock; undefined if there is no such folder. */
export function findFallbackFolder(dataDir: string): string | undefined {
  const folder = folderFor(dataDir);
  return isPrivate(folder) ? folder : undefined;
}

/** On Linux not what TMPDIR says, which may differ between a service and a terminal. */
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

/** Others may make folders there too, and links; such a one is never used. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return process.platform === 'win32' || (stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another Sluice has begun to use it.
  }
}
