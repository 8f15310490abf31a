/**
 * Lets one process at a time build a folder. The lock is SQLite's lock on a file, which the system gives back when a process
 * ends, however it ends: a build that takes minutes is never taken for a dead one, and a dead one holds up nobody.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Longer than a build takes on a busy machine. */
const longestWaitMs = 10 * 60_000;
/** https://sqlite.org/rescode.html#busy */
const busy = 5;

/** Waits for a running build, after calling `onWait`, and then holds the lock until the returned function is called. */
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
