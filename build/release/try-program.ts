/**
 * `node build/release/try-program.ts COMMAND…`: starts a program on an empty data folder, waits until it serves its health and
 * its window, and ends it. With `--packed FOLDER` the program that electron-builder has packed there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Beside the installers, by system; the folder's name tells the processor, unless it is x64. */
const packedPrograms = ['linux*-unpacked/sluice', 'win*-unpacked/Sluice.exe', 'mac*/Sluice.app/Contents/MacOS/Sluice'];
/** A first start of a packed program on a slow machine, which checks the archive. */
const patienceMs = 60_000;

function packedProgram(folder: string): string {
  const [path] = packedPrograms.flatMap((pattern) => globSync(pattern, { cwd: folder }));
  if (path === undefined) throw new Error(`There is no packed program in ${folder}.`);
  return join(folder, path);
}

async function tryProgram(words: readonly string[]): Promise<void> {
  const [command = '', ...parameters] = words[0] === '--packed' ? [packedProgram(words[1] ?? '')] : words;
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-try-'));
  const child = spawn(command, parameters, {
    env: { ...process.env, SLUICE_DATA_DIR: dataDir },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const origin = await addressOf(child, dataDir);
    for (const path of ['/healthz', '/']) {
      const response = await fetch(new URL(path, origin));
      if (!response.ok) throw new Error(`GET ${path} is answered with ${response.status}.`);
    }
    console.log(`${command} serves.`);
  } finally {
    await end(child);
    // Windows may hold the files of a process for a moment after its end.
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await once(child, 'exit');
  clearTimeout(timer);
}

/** As the program writes it into its data folder when it listens. */
async function addressOf(child: ChildProcess, dataDir: string): Promise<string> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`The program has ended with ${code}.`);
  });
  const deadlineMs = Date.now() + patienceMs;
  while (Date.now() < deadlineMs) {
    const port = readPort(dataDir);
    if (port !== null) return `http://127.0.0.1:${port}`;
    await Promise.race([wait(100), failed]);
  }
  throw new Error(`The program does not listen after ${patienceMs / 1000} s.`);
}

function readPort(dataDir: string): number | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'instance.json'), 'utf8')).port;
  } catch {
    return null;
  }
}

await tryProgram(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
