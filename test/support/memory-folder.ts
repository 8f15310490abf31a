/**
 * Temporary files in memory: most tests write a database, a configuration or the profile of a browser and soon remove it, and
 * waiting for the disk took more time than the tests themselves.
 */
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** Of Linux, in memory. */
const place = '/dev/shm';
const prefix = 'sluice-tests-';
/** What a run holds at most, far from it; Docker gives a container 64 MB unless it is told otherwise. */
const neededBytes = 2_000_000_000 * availableParallelism();

/** Vitest's global setup; workers and what they start inherit the variable. What it returns is the teardown. */
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

/** Some tests start programs that they have written, and the server of a database runs as another user. */
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

/** Of runs that were killed. */
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
