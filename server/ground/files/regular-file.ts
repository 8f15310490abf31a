/**
 * Reads files that people name. Only regular files: a named pipe that nobody writes to would be waited for at open, for ever and
 * also at exit, and a device like /dev/random has no end.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { mebibyte } from '../../contract/units.ts';

/** A pipe is opened at once, without waiting for its writer. Windows has no such pipes among its files. */
const readNow = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** More than any configuration, key or list of certificates. */
const maxBytes = 256 * mebibyte;

/** Rejects with a system error, or an Error that says what else it is. */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, readNow);
  try {
    refuseOthers(await file.stat());
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

export function readRegularFileSync(path: string): string {
  const file = openRegularFileSync(path);
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The descriptor is to be closed by the caller. */
export function openRegularFileSync(path: string): number {
  const file = openSync(path, readNow);
  try {
    refuseOthers(fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function refuseOthers(stats: Stats): void {
  const kind = kindOf(stats);
  if (kind !== null) throw new Error(`it is ${kind}, and not a file`);
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
}

function kindOf(stats: Stats): string | null {
  // The system itself refuses to read a folder.
  if (stats.isFile() || stats.isDirectory()) return null;
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
