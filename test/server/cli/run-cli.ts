import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll } from 'vitest';
import { runCommandLine } from '../../../server/cli/program.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import {
  endProcess,
  ensureBuilt,
  type ProgramOptions,
  plainEnvironment,
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
  /** The output so far. */
  output: RunningProgram['output'];
  /** Resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];

/**
 * Builds the program, and ends everything that was started after each test. Each test file must call it: files share
 * imported modules, so hooks registered by an import would only apply to the first file.
 */
export function endProgramsAfterEach(): void {
  beforeAll(ensureBuilt);
  afterEach(async () => {
    for (const child of running) await endProcess(child, 'SIGKILL');
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
}

/** Removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  folders.push(folder);
  return folder;
}

/** Runs a verb to its end. Secrets go to the encrypted file unless `env` changes that. */
export async function runCli(parameters: string[], options: CliOptions = {}): Promise<CliResult> {
  const { ended, output } = start(parameters, options);
  const code = await ended;
  return { code, ...output };
}

/** Like `runCli`, but runs the verb in this process, because starting a process takes longer than most verbs. */
export async function runVerb(parameters: string[], options: Omit<CliOptions, 'program'> = {}): Promise<CliResult> {
  const { env = {}, input = '' } = options;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  try {
    const terminal = {
      argv: parameters,
      env: { ...plainEnvironment, SLUICE_SECRETS: 'file', ...env },
      stdin: Readable.from([input]),
      stdout,
      stderr,
      windowFolders: [],
      teamPresets: { policy: join(tmpdir(), 'sluice-cli-no-such-folder', 'policy.json') },
      loadTeam: optionalParts.team,
    };
    await runCommandLine(terminal, optionalParts.team);
    return { code: Number(process.exitCode ?? 0), ...(await endOf(said, stdout, stderr)) };
  } finally {
    // It is the exit code of the test process.
    process.exitCode = undefined;
  }
}

async function endOf(said: Promise<[string, string]>, ...streams: PassThrough[]) {
  for (const stream of streams) stream.end();
  const [stdout, stderr] = await said;
  return { stdout, stderr };
}

/** Adds the provider `main` for `models`, whose credential is in `env` as UPSTREAM_KEY. */
export function addProvider(
  dataDir: string,
  { url, models, env }: { url: string; models: string; env: Record<string, string> },
): Promise<CliResult> {
  const line = `provider add --no-test --url ${url} --id main --models ${models} --credential-env UPSTREAM_KEY`;
  return runVerb([...line.split(' '), '--data-dir', dataDir], { env });
}

/** Makes a key as an administrator of a shared gateway does, at the Sluice running on this data folder or in its database. */
export async function createKey(dataDir: string, env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runVerb(['key', 'create', '--name', 'My key', '--data-dir', dataDir], { env });
  if (code !== 0) throw new Error(`no key was made: ${stderr}`);
  return stdout.trim();
}

/** Starts a verb that runs until it is ended. */
export function spawnCli(parameters: string[], options: CliOptions = {}) {
  const { output, ended, child } = start(parameters, options);
  return { output, ended, child };
}

/** The result of `runVerb` as JSON; throws its output if it failed. */
export async function runJson(parameters: string[], options: CliOptions = {}): Promise<unknown> {
  const { code, stdout, stderr } = await runVerb([...parameters, '--json'], options);
  if (code !== 0) throw new Error(`${parameters.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** `serve --json` on a free port. Resolves when it is ready; rejects with the output if it ends before. */
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

/** Runs `serve` on a free port as a person would. Resolves with its output up to the `curl` line. */
export function serveForPerson(parameters: string[], env: Record<string, string> = {}): Promise<string> {
  return shownToPerson(start(['serve', '--port', '0', ...parameters], { env }));
}

function start(parameters: string[], options: CliOptions): RunningProgram {
  const program = startProgram(parameters, options);
  running.add(program.child);
  program.child.once('exit', () => running.delete(program.child));
  return program;
}
