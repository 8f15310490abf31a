/**
 * Writes a file atomically, so that a crash or power failure leaves either the old or the new content: write a
 * temporary file, fsync, rename, fsync the folder (without which the rename may be lost).
 */
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemErrorCode } from './regular-file.ts';

/** Part of the names of temporary files, by which leftovers of a killed process are found. */
export const temporaryInfix = '.tmp-';

/** Readable and writable by this user only. */
const privateMode = 0o600;

/**
 * Replaces `path` with `data`, mode 0600. On failure, rejects with the system's error and leaves the old file
 * unchanged.
 */
export async function writeFileDurably(path: string, data: string | Uint8Array): Promise<void> {
  const temporary = `${path}${temporaryInfix}${randomBytes(8).toString('hex')}`;
  try {
    const file = await open(temporary, 'wx', privateMode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes renames and removals in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    // Windows cannot open a folder as a file; NTFS journals renames anyway.
    if (!['EISDIR', 'EPERM', 'EINVAL'].includes(systemErrorCode(error) ?? '')) throw error;
  }
}
