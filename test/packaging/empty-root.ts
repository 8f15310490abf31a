/**
 * A root with nothing in it but Node, the libraries that it is linked to, npm, `env`, which starts scripts, and the
 * packed package: what the package needs of a system.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { npmProgram } from '../support/npm-package.ts';

export interface EmptyRoot {
  /** What runs a program in it: the command to put before the program's. */
  enter: string[];
  /** Paths in it. */
  npm: string;
  archive: string;
}

/** What changes the root of a process, here: as root, or in a user namespace; undefined if neither is permitted. */
export function rootChanger(): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const ways = [['chroot'], ['unshare', '--user', '--map-root-user', 'chroot']];
  return ways.find(([file = '', ...parameters]) => {
    try {
      execFileSync(file, [...parameters, '/', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

export function makeEmptyRoot(folder: string, changer: readonly string[], node: string, archive: string): EmptyRoot {
  for (const name of ['bin', 'usr/bin', 'home', 'tmp', 'npm']) mkdirSync(join(folder, name), { recursive: true });
  addProgram(folder, node, '/bin/node');
  addProgram(folder, '/usr/bin/env', '/usr/bin/env');
  cpSync(dirname(dirname(npmProgram())), join(folder, 'npm'), { recursive: true, dereference: true });
  copyFileSync(archive, join(folder, basename(archive)));
  return { enter: [...changer, folder], npm: '/npm/bin/npm-cli.js', archive: `/${basename(archive)}` };
}

/** With the libraries that it is linked to, and their loader, at the same paths. */
function addProgram(folder: string, from: string, to: string): void {
  const libraries = execFileSync('ldd', [from], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? [];
  for (const [source, target] of [[from, to] as const, ...libraries.map((path) => [path, path] as const)]) {
    mkdirSync(dirname(join(folder, target)), { recursive: true });
    copyFileSync(source, join(folder, target));
  }
}
