/**
 * Temporary files in memory. Most tests write a database, a configuration or a browser profile and soon remove it, and
 * waiting for the disk took longer than the tests themselves.
 */
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** Linux's file system in memory. */
const place = '/dev/shm';
const prefix = 'sluice-tests-';
/** Far more than a run needs. Docker gives a container 64 MB by default. */
const neededBytes = 2_000_000_000 * availableParallelism();

/** Vitest's global setup. Workers and their child processes inherit the variable. Returns the teardown function. */
export default function keepTemporaryFilesInMemory(): (() => void) | undefined {
  if (!isFit()) return undefined;
  removeLeftovers();
  const folder = join(place, `${prefix}${process.pid}`);
  mkdirSync(folder);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  };
}

/**
 * Whether the tests can use this file system. It must not be `noexec`, because some tests run programs that they have
 * written. A database server uses it as another user.
 */
function isFit(): boolean {
  try {
    accessSync(place, constants.W_OK);
    const mount = readFileSync('/proc/mounts', 'utf8').match(/^\S+ \/dev\/shm tmpfs (\S+)/m);
    if (!mount?.[1] || mount[1].split(',').includes('noexec')) return false;
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize >= neededBytes && process.availableMemory() >= neededBytes;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(place)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
