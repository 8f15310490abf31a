/**
 * Programs installed from npm and PyPI, found on the PATH or in the folder named by SLUICE_TEST_CLIENTS
 * (`npm install --prefix FOLDER …`, `python3 -m venv FOLDER && FOLDER/bin/pip install …`). `CI=true` does not require
 * them, because some are not available for every system.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { plainEnvironment } from './plain-environment.ts';

const folder = process.env.SLUICE_TEST_CLIENTS;
const searched = [
  ...(folder ? [join(folder, 'node_modules', '.bin'), join(folder, 'bin')] : []),
  ...plainEnvironment.PATH.split(delimiter),
];

export function findProgram(command: string): string | null {
  const files = searched.map((folder) => join(folder, command));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Ends a program that hangs. Every program needs far less. */
export const programTimeoutMs = 60_000;

interface ProgramRun {
  parameters: string[];
  /** Its HOME and working directory. */
  folder: string;
  env: Record<string, string>;
}

/** Runs the program in its own folder, without HTTP access to anything but loopback. */
export async function runProgram(program: string, { parameters, folder, env }: ProgramRun) {
  const nowhere = 'http://127.0.0.1:9';
  const proxies = { HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' };
  const child = spawn(program, parameters, {
    cwd: folder,
    env: { ...plainEnvironment, HOME: folder, ...proxies, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Some are started by a script, so the whole process group must be ended.
    detached: true,
  });
  const deadline = setTimeout(() => endGroup(child.pid), programTimeoutMs);
  try {
    const ended = once(child, 'exit');
    const [said, complained, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { exitCode, said, complained };
  } finally {
    clearTimeout(deadline);
    endGroup(child.pid);
  }
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}
