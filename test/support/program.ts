/**
 * The program as an outside harness sees it: a child process with arguments, an environment, streams and an exit code.
 * By default the built program. The caller must end what it starts.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** Sends a request with a key to a running Sluice. */
export function get(url: string, key: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${key}` } });
}

/**
 * For a process that a test starts: programs are found on the PATH, and nothing else of the caller's environment is
 * passed on.
 */
export const plainEnvironment = { PATH: process.env.PATH ?? '', HOME: tmpdir() };

// Waits for child processes of tests to serve and to end.

/** Resolves once a line of `output` contains `words`. Rejects with all lines if the output ends before. */
export async function untilServing(name: string, output: Readable, words: string): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface(output)) {
    said.push(line);
    if (line.includes(words)) {
      output.resume();
      return;
    }
  }
  throw new Error(`${name} did not start: ${said.join('\n')}`);
}

/** Resolves once the process has ended, at once if it already has. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export const checkout = join(import.meta.dirname, '../..');
export const builtProgram = join(checkout, 'dist/program/cli.js');
/** The window as shipped. */
export const builtWindow = join(checkout, 'dist/window');

export interface ProgramOptions {
  env?: Record<string, string>;
  /** Written to stdin, which is then closed. */
  input?: string;
  /** Runs this program instead of the built one. */
  program?: string;
  /** Command prefix, such as `nsenter` and its parameters. */
  within?: readonly string[];
  /** Its working directory. */
  cwd?: string;
}

/** The line that `serve --json` prints. */
export interface Ready {
  event: string;
  baseUrl: string;
  windowUrl: string;
  key?: string;
  pid: number;
}

export interface RunningProgram {
  child: ChildProcess;
  /** The output so far. */
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code; null if a signal ended the program. */
  ended: Promise<number | null>;
}

let isBuilt: Promise<unknown> | undefined;

/**
 * Builds what is older than its sources, as `npm start` does. Runs once per process; concurrent processes wait for each
 * other.
 */
export async function ensureBuilt(): Promise<void> {
  isBuilt ??= promisify(execFile)(process.execPath, [join(checkout, 'build/launch.ts'), '--version']);
  await isBuilt;
}

/** Secrets go to the encrypted file unless `env` changes that. Nothing else of the tests' environment is passed on. */
export function startProgram(parameters: readonly string[], options: ProgramOptions = {}): RunningProgram {
  const { env = {}, input, program = builtProgram, within = [], cwd } = options;
  const [command = '', ...words] = [...within, process.execPath, program, ...parameters];
  const child = spawn(command, words, {
    env: { ...plainEnvironment, SLUICE_SECRETS: 'file', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd,
  });
  // A program that ends before it has read its input does not fail the test.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input ?? '');
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, output: collectOutput(child), ended };
}

/** Collects the output of a program that was spawned with pipes. */
export function collectOutput(child: ChildProcess): RunningProgram['output'] {
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (piece: string) => {
      output[stream] += piece;
    });
  }
  return output;
}

/** Resolves with the line of `serve --json`. Rejects with the output if the program ends before it is ready. */
export function readyOf({ child, output }: RunningProgram): Promise<Ready> {
  return new Promise<Ready>((resolve, reject) => {
    const hear = () => {
      const end = output.stdout.indexOf('\n');
      if (end === -1) return;
      child.stdout?.off('data', hear);
      try {
        resolve(JSON.parse(output.stdout.slice(0, end)));
      } catch (error) {
        reject(error);
      }
    };
    child.stdout?.on('data', hear);
    child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${output.stderr}`)));
  });
}

/**
 * Resolves with what `serve` prints for a person, up to the `curl` line. Rejects with the output if the program ends
 * before.
 */
export async function shownToPerson({ child, output }: RunningProgram): Promise<string> {
  while (!/^ {2}curl .*\n/m.test(output.stdout)) {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${output.stderr}`);
    await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  }
  return output.stdout;
}
