/** The file of a database as the system sees it: its permissions, whether it is still the same, and out of the way. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * SQLite gives the `-wal` and `-shm` files the permissions of the main one, so it must be private before it is opened. One
 * that is there is not opened for that: closing it again would drop all locks that this process holds on it.
 */
export function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Tells one file from another under the same name; 0 if there is none, null if it cannot be known. */
export function fileIdentity(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino ?? 0;
  } catch {
    return null;
  }
}

/** Moves the file and what belongs to it to a name of its own, which is returned. */
export function setFileAside(file: string): string {
  const stem = `${file}.set-aside-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}`;
  let movedTo = stem;
  for (let count = 2; existsSync(movedTo); count += 1) movedTo = `${stem}-${count}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, movedTo + suffix);
  }
  return movedTo;
}
