/** Reads and writes files in the user's home folder, and nowhere else. */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { controlError } from '../contract/control-error.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';

export interface HomeFile {
  /** Its path with symbolic links resolved. */
  path: string;
  /** The path as shown to people: `~/.codex/config.toml`. */
  shown: string;
  /** Null if it does not exist. */
  text: string | null;
  /** Its permissions; null if it does not exist. */
  mode: number | null;
}

export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.HOME || homedir();
}

/** The same for two processes that mean the same home folder on the same machine, or in the same container. */
export async function placeOf(home: string): Promise<string> {
  const path = await realpath(home).catch(() => resolve(home));
  return createHash('sha256').update(`${hostname()}\0${path}`).digest('base64url');
}

/** Far more than any configuration file needs. */
const maxBytes = 1024 * 1024;

/** Throws a GatewayError for a file outside the home folder, or if it cannot be read as text. */
export async function readHomeFile(home: string, path: string): Promise<HomeFile> {
  const realHome = await realpath(home);
  const shown = shownPath([home, realHome], path);
  const real = await realPathOf(path, shown);
  if (!isInside(realHome, real)) throw controlError('conflict', { code: 'client-file-outside-home', path: shown });
  try {
    const { size, mode } = await stat(real);
    if (size > maxBytes) throw new Error('it is larger than 1 MB');
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(real));
    return { path: real, shown, text, mode: mode & 0o777 };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { path: real, shown, text: null, mode: null };
    throw unreadable(shown, error);
  }
}

function unreadable(path: string, error: unknown) {
  const reason = error instanceof TypeError ? 'it is not UTF-8 text' : describeFileProblem(error);
  return controlError('conflict', { code: 'client-file-unreadable', path, reason });
}

/** Resolves the links in the existing part of the path. */
async function realPathOf(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw unreadable(shown, error);
    // A dangling link is not followed.
    if (await lstat(path).catch(() => null)) throw unreadable(shown, error);
    const parent = dirname(path);
    return parent === path ? path : join(await realPathOf(parent, shown), relative(parent, path));
  }
}

function isInside(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Writes the whole file or nothing. Resolves with the topmost folder that had to be created, or null. */
export async function writeHomeFile({ path, shown }: HomeFile, text: string, mode: number): Promise<string | null> {
  try {
    const madeFolder = (await mkdir(dirname(path), { recursive: true, mode: 0o700 })) ?? null;
    await writeFileDurably(path, text);
    // The durable write creates it private, so it is never readable by others.
    if (mode !== 0o600) await chmod(path, mode);
    return madeFolder;
  } catch (error) {
    throw controlError('storage_unavailable', {
      code: 'client-file-not-written',
      path: shown,
      reason: describeFileProblem(error),
    });
  }
}

/** Removes a file, and its folders up to `top` if they are then empty. */
export async function removeHomeFile({ path }: Pick<HomeFile, 'path'>, top: string | null): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); top !== null && isInside(dirname(top), folder); folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}

/** `homes`: all paths of the home folder. */
function shownPath(homes: readonly string[], path: string): string {
  const home = homes.find((each) => isInside(resolve(each), path));
  return home === undefined ? path : `~/${relative(resolve(home), path).split(sep).join('/')}`;
}
