/** A program on a small disk of its own, in a mount namespace that any user may make. Linux only. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnvironment } from './plain-environment.ts';

const mount = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"';
/** As any user; where that is forbidden, as root. */
const namespaces = [['--user', '--map-root-user', '--mount'], ['--mount']];

/** Two megabytes at `mountPoint`, an existing folder, which the program alone sees. */
export function spawnOnSmallDisk(mountPoint: string, program: readonly string[]): ChildProcess {
  const onDisk = (flags: readonly string[]) => [...flags, '--', 'sh', '-c', mount, mountPoint];
  const flags = namespaces.find((each) => spawnSync('unshare', [...onDisk(each), 'true']).status === 0);
  if (!flags) throw new Error('Neither a user nor root may mount a disk in a namespace of its own here (unshare).');
  return spawn('unshare', [...onDisk(flags), ...program], {
    env: { ...plainEnvironment, SLUICE_SECRETS: 'file' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The path of a file as the process sees it. */
export function seenBy(pid: number, path: string): string {
  return `/proc/${pid}/root${path}`;
}

/** Takes all room of the disk on which the folder is. */
export function fillDisk(folder: string): void {
  for (let pieceBytes = 1024 * 1024; pieceBytes > 0; pieceBytes = Math.floor(pieceBytes / 2)) {
    try {
      writeFileSync(join(folder, `filler-${pieceBytes}`), Buffer.alloc(pieceBytes));
    } catch {
      // Until nothing more fits.
    }
  }
}

export function makeRoom(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith('filler')) rmSync(join(folder, name));
}
