import { execFile } from 'node:child_process';
import { readdir, readlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';

/** A running Sluice keeps this file in its data folder open. */
const openFile = 'ledger.sqlite';
const commandLimitMs = 3_000;

/**
 * The data folder of the Sluice with this process id, found by its open files; undefined if it cannot be determined.
 */
export async function findDataFolder(pid: number): Promise<string | undefined> {
  try {
    const files = process.platform === 'linux' ? await openFilesInProc(pid) : await openFilesByLsof(pid);
    const found = files.find((path) => basename(path) === openFile);
    return found && dirname(found);
  } catch {
    return undefined;
  }
}

async function openFilesInProc(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder);
  return Promise.all(descriptors.map((descriptor) => readlink(`${folder}/${descriptor}`).catch(() => '')));
}

/** For macOS; Windows has no such command. */
async function openFilesByLsof(pid: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('lsof', ['-p', String(pid), '-Fn'], { timeout: commandLimitMs });
  return stdout.split('\n').flatMap((line) => (line.startsWith('n') ? [line.slice(1)] : []));
}
