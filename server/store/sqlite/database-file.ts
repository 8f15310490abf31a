/** Operations on a database's file: permissions, identity, and moving it aside. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the file private before SQLite opens it, because `-wal` and `-shm` inherit its permissions. An existing file is
 * not opened here: closing it would drop all POSIX locks that this process holds on it.
 */
export function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** The inode; 0 if there is no file, null if it cannot be determined. */
export function fileIdentity(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino ?? 0;
  } catch {
    return null;
  }
}

/** Renames the file with its `-wal` and `-shm`; returns the new name. */
export function setFileAside(file: string): string {
  const stem = `${file}.set-aside-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}`;
  let movedTo = stem;
  for (let count = 2; existsSync(movedTo); count += 1) movedTo = `${stem}-${count}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, movedTo + suffix);
  }
  return movedTo;
}
