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

const problems: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not change it',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's share of the disk is full",
  EFBIG: 'the file would be larger than allowed',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EIO: 'the disk reports a fault',
  EMFILE: 'this program may open no more files',
  ENFILE: 'this machine can open no more files',
};

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'EIO']);

/** Whether the error means that a file cannot be written at present. */
export function isUnwritable(error: unknown): boolean {
  return unwritable.has(systemErrorCode(error) ?? '');
}

/** The code of a system error (`ENOENT`), or undefined for any other value. */
export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Describes a file error for a person, with the system's code if there is one. Never quotes the file's content. */
export function describeFileProblem(error: unknown): string {
  const code = systemErrorCode(error);
  // V8's message quotes the text, which may contain a secret.
  if (error instanceof SyntaxError && error.name === 'SyntaxError') return 'it is not valid JSON';
  if (code === undefined) return error instanceof Error ? error.message : 'unknown error';
  const words = problems[code];
  return words === undefined ? code : `${words} (${code})`;
}
