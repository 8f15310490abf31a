/**
 * Lets one process at a time build a folder. The lock is SQLite's lock on a file. The system releases it when its
 * process ends in any way, so a slow build is never mistaken for a dead one, and a dead one blocks no other.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Longer than a build takes on a busy machine. */
const longestWaitMs = 10 * 60_000;
/** https://sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * Waits for another process that is building there, after calling `onWait`. Returns the function that releases the
 * lock.
 */
export function takeBuildLock(folder: string, onWait: () => void): () => void {
  mkdirSync(folder, { recursive: true });
  const file = new DatabaseSync(join(folder, 'build.lock'));
  try {
    lock(file, 0);
  } catch (error) {
    if (!isBusy(error)) throw error;
    onWait();
    lock(file, longestWaitMs);
  }
  return () => file.close();
}

function lock(file: DatabaseSync, waitMs: number): void {
  file.exec(`PRAGMA busy_timeout = ${waitMs}`);
  file.exec('BEGIN EXCLUSIVE');
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === busy;
}
