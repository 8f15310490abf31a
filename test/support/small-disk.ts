/** Runs programs with small disks in mount namespaces. Linux only. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onlyIf } from './only-if.ts';
import { endProcess, plainEnvironment, untilServing } from './program.ts';

const mount = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"';
/** As any user; if that is forbidden, as root. */
const namespaces = [['--user', '--map-root-user', '--mount'], ['--mount']];

/** Runs a program with a disk of two megabytes at `mountPoint`, an existing folder. Only the program sees the disk. */
export function spawnOnSmallDisk(mountPoint: string, program: readonly string[]): ChildProcess {
  const onDisk = (flags: readonly string[]) => [...flags, '--', 'sh', '-c', mount, mountPoint];
  const flags = namespaces.find((each) => spawnSync('unshare', [...onDisk(each), 'true']).status === 0);
  if (!flags) throw new Error('Neither a user nor root may mount a disk in a namespace of its own here (unshare).');
  return spawn('unshare', [...onDisk(flags), ...program], {
    env: { ...plainEnvironment, SLUICE_SECRETS: 'file' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** For `runIf`: whether this user may hold small disks, which requires root. With CI=true, root must be able to. */
export function mayHoldSmallDisks(): boolean {
  const mayMount = () => spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
  const isRoot = process.getuid?.() === 0;
  return onlyIf(isRoot && (process.env.CI === 'true' || mayMount()), 'only root may mount disks for other programs');
}

export interface SmallDisks {
  /** Command prefix for programs that must see the disks. */
  readonly enter: readonly string[];
  /** The path of a file on a disk, for programs outside the namespace. */
  seen(path: string): string;
  /** To be called once no program uses the disks any more. */
  remove(): Promise<void>;
}

/** Mounts empty disks on existing folders. They outlive the programs that use them. */
export async function holdSmallDisks(megabytes: Readonly<Record<string, number>>): Promise<SmallDisks> {
  const mounts = Object.entries(megabytes).map(
    ([folder, size]) => `mount -t tmpfs -o mode=700,size=${size}m tmpfs '${folder}'`,
  );
  const script = `${mounts.join(' && ')} && echo held && exec sleep infinity`;
  const holder = spawn('unshare', ['--mount', '--', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await untilServing('A namespace with small disks', holder.stdout, 'held');
  const { pid = 0 } = holder;
  return {
    enter: ['nsenter', '--target', String(pid), '--mount', '--'],
    seen: (path) => seenBy(pid, path),
    remove: () => endProcess(holder, 'SIGKILL'),
  };
}

/** The path of a file that the process sees, from outside its namespace. */
export function seenBy(pid: number, path: string): string {
  return `/proc/${pid}/root${path}`;
}

/** Fills the disk that contains the folder. */
export function fillDisk(folder: string): void {
  for (let pieceBytes = 1024 * 1024; pieceBytes > 0; pieceBytes = Math.floor(pieceBytes / 2)) {
    try {
      for (let piece = 0; ; piece++) {
        writeFileSync(join(folder, `filler-${pieceBytes}-${piece}`), Buffer.alloc(pieceBytes));
      }
    } catch {
      // The disk is full for this piece size.
    }
  }
}

export function makeRoom(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith('filler')) rmSync(join(folder, name));
}
