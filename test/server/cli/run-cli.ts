import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll } from 'vitest';
import {
  ensureBuilt,
  type ProgramOptions,
  type Ready,
  type RunningProgram,
  readyOf,
  shownToPerson,
  startProgram,
} from '../../support/program.ts';

export type CliOptions = ProgramOptions;
export type { Ready };

interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Serving {
  ready: Ready;
  child: ChildProcess;
  /** So far. */
  output: RunningProgram['output'];
  /** Resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];

beforeAll(ensureBuilt);
afterEach(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  folders.push(folder);
  return folder;
}

/** Runs a verb to its end. Secrets go to the encrypted file unless `env` says otherwise. */
export async function runCli(parameters: string[], options: CliOptions = {}): Promise<CliResult> {
  const { ended, output } = start(parameters, options);
  const code = await ended;
  return { code, ...output };
}

/** A verb that goes on until something ends it. */
export function spawnCli(parameters: string[], options: CliOptions = {}) {
  const { output, ended } = start(parameters, options);
  return { output, ended };
}

/** The result of a verb as JSON; throws what it said if it failed. */
export async function runJson(parameters: string[], options: CliOptions = {}): Promise<unknown> {
  const { code, stdout, stderr } = await runCli([...parameters, '--json'], options);
  if (code !== 0) throw new Error(`${parameters.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** `serve --json` on a free port; resolves when it is ready, rejects with what it said if it ends before. */
export async function serve(dataDir: string, parameters: string[] = [], options: CliOptions = {}): Promise<Serving> {
  const program = start(['serve', '--json', '--port', '0', '--data-dir', dataDir, ...parameters], options);
  const { child, output } = program;
  const ready = await readyOf(program);
  return {
    ready,
    child,
    output,
    async end(signal = 'SIGTERM') {
      if (child.exitCode !== null) return child.exitCode;
      child.kill(signal);
      const [code] = await once(child, 'exit');
      return code;
    },
  };
}

/** `serve` on a free port as a person starts it; resolves with what is shown, up to the line to try. */
export function serveForPerson(parameters: string[], env: Record<string, string> = {}): Promise<string> {
  return shownToPerson(start(['serve', '--port', '0', ...parameters], { env }));
}

function start(parameters: string[], options: CliOptions): RunningProgram {
  const program = startProgram(parameters, options);
  running.add(program.child);
  program.child.once('exit', () => running.delete(program.child));
  return program;
}
