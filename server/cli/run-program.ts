/** Starts a program with a key. A key that was created for the program is revoked when the program ends. */

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { constants, homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import spawn from 'cross-spawn';
import { toolEnvironment, withTool } from '../connect/tool-environment.ts';
import { dayMs } from '../contract/units.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import { after, every } from '../ground/timers.ts';
import type { Control, ListeningControl } from './control.ts';
import { chooseKey, chooseModel, clientOrigin } from './env.ts';
import type { Output } from './output.ts';
import { CliError } from './programs/exit-codes.ts';
import type { RunFile } from './programs/program-context.ts';
import type { Terminal } from './terminal.ts';

/** Which key the program uses: an existing one, or a new one in the given group. */
export interface RunChoices {
  key?: string;
  group?: string;
  model?: string;
}

interface RunContext {
  control: ListeningControl;
  output: Output;
  env: Terminal['env'];
  /** For files with the program's settings. */
  dataDir: string;
  around?: AroundRun | undefined;
}

interface RunKey {
  id: string;
  secret: string;
  /** Revokes the key, unless it existed before. */
  release(): Promise<void>;
}

/**
 * Called with the program's key before the program starts; resolves with a function to call once the program has ended.
 */
export type AroundRun = (control: Control, keyId: string) => Promise<() => Promise<void>>;

/** Resolves with the program's exit code once it has ended. */
export async function runProgram(line: readonly string[], choices: RunChoices, context: RunContext): Promise<number> {
  const { control, env, dataDir, around, output } = context;
  const program = basename(line[0] ?? '');
  const key = await keyFor(program, choices, context);
  const sinceMs = Date.now();
  try {
    const end = await around?.(control, key.id);
    try {
      const origin = await clientOrigin(control);
      const code = await startProgram(line, {
        origin,
        key,
        model: choices.model,
        control,
        dataDir,
        env,
        note: output.note,
      });
      if (!(await hasAskedModel(control, key.id, sinceMs))) output.note(describeBypass(program));
      return code;
    } finally {
      await end?.();
    }
  } finally {
    await key.release();
  }
}

/** Whether the key has asked a model, with success or not. True if that is unknown. */
async function hasAskedModel(control: Control, keyId: string, sinceMs: number): Promise<boolean> {
  try {
    const filter = { keyId, sinceMs };
    const { requests } = await control.query({ type: 'requests', filter, limit: modelSearchLimit });
    return requests.length === modelSearchLimit || requests.some(({ capability }) => capability !== null);
  } catch {
    return true;
  }
}

/** Programs that ask no model list some, at most. */
const modelSearchLimit = 100;

function describeBypass(program: string): string {
  return (
    `No request of ${program} to a model came through Sluice. If it has asked one, its own settings lead elsewhere, ` +
    'or name a model that it does not find here; "sluice run --model" names one.'
  );
}

/**
 * A new key expires within a day, in case this process is killed and cannot revoke it. While the program runs, the
 * expiry is extended.
 */
async function keyFor(
  programName: string,
  { key: id, group }: RunChoices,
  { control, output }: { control: Control; output: Output },
): Promise<RunKey> {
  if (id !== undefined) {
    const { secret } = await control.execute({ type: 'key.reveal', id });
    return { id, secret, release: async () => {} };
  }
  const tomorrow = () => new Date(Date.now() + dayMs).toISOString();
  const created = await control.execute({
    type: 'key.create',
    name: `${programName} (run)`,
    ...(group && { group }),
    expiresAt: tomorrow(),
    keepSecret: false,
  });
  const keyId = created.key.id;
  const report = (error: unknown) =>
    output.note(`Key "${keyId}" stays until it expires: ${error instanceof Error ? error.message : String(error)}`);
  const renewal = every(() => {
    control.execute({ type: 'key.update', id: keyId, changes: { expiresAt: tomorrow() } }).catch(report);
  }, dayMs / 2);
  const release = async () => {
    clearInterval(renewal);
    await control.execute({ type: 'key.revoke', id: keyId }).catch(report);
  };
  return { id: keyId, secret: created.secret, release };
}

// Starts a program that finds Sluice in its environment, and waits until it ends.

interface ProgramStart {
  origin: string;
  key: { id: string; secret: string };
  model: string | undefined;
  control: Control;
  dataDir: string;
  env: Terminal['env'];
  /** Called with what a person should know before it starts. */
  note?(text: string): void;
  /** Discards its output and gives it no input. */
  quiet?: boolean;
  /** The program is killed after this time; absent: never. */
  timeoutMs?: number;
}

/** Resolves with the program's exit code, or with 128 plus the signal's number if a signal ended it. */
export async function startProgram(line: readonly string[], start: ProgramStart): Promise<number> {
  const [command = '', ...parameters] = line;
  const { origin, key, model, control, dataDir, env: present, quiet = false, timeoutMs } = start;
  const models = await control.query({ type: 'models', key: key.id });
  const access = { origin, key: key.secret, model };
  // Reads formats of settings files, which no other command needs.
  const { prepareProgram } = await import('./programs/prepare-program.ts');
  const prepared = await prepareProgram(command, {
    access,
    models: models.map(({ id }) => id),
    usualModel: async () => chooseModel(control, await chooseKey(control, key.id)),
    parameters,
    present,
    home: present.HOME || homedir(),
    folder: process.cwd(),
    platform: process.platform,
    readFile: (path) => readFile(path, 'utf8').catch(absent(null)),
    runFolder: resolve(dataDir),
    stat: (path) => stat(path).catch(absent(null)),
    listFolder: (path) => readdir(path).catch(absent([])),
  });
  if (prepared.warning !== undefined) start.note?.(prepared.warning);
  const env = { ...withTool(present, toolEnvironment(access, present)), ...prepared.env };
  return withRunFile(prepared.file, dataDir, (path) => {
    const own = path === null ? none : givenBy(prepared.file, path);
    return waitFor(command, [...own.parameters, ...prepared.parameters], {
      env: { ...env, ...own.env },
      quiet,
      timeoutMs,
    });
  });
}

/** What to resolve with if a file or folder does not exist. */
function absent<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return value;
    throw error;
  };
}

const none = { parameters: [], env: {} };

function givenBy(file: RunFile | undefined, path: string): { parameters: string[]; env: Record<string, string> } {
  if (!file) return none;
  return 'option' in file.by
    ? { ...none, parameters: [file.by.option, path] }
    : { ...none, env: { [file.by.variable]: path } };
}

/** The file is in the data folder, because Gemini CLI reads none below a folder that others can write to, such as that of temporary files. */
async function withRunFile<Result>(
  file: RunFile | undefined,
  dataDir: string,
  use: (path: string | null) => Promise<Result>,
): Promise<Result> {
  if (!file) return use(null);
  const folder = await mkdtemp(resolve(dataDir, 'run-'));
  try {
    const path = join(folder, file.name);
    await writeFile(path, file.text, { mode: 0o600 });
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The exit codes of env(1) and of POSIX shells. */
const cannotStart = 126;
const notFound = 127;
const killedBy = 128;

interface Waiting {
  env: Terminal['env'];
  quiet: boolean;
  timeoutMs: number | undefined;
}

function waitFor(command: string, parameters: string[], { env, quiet, timeoutMs }: Waiting): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    const child = spawn(command, parameters, { stdio: quiet ? 'ignore' : 'inherit', env });
    const timer = timeoutMs === undefined ? undefined : after(() => child.kill('SIGKILL'), timeoutMs);
    // Ctrl+C reaches the program directly, because it shares the terminal; this process ends after it.
    const ignore = () => {};
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    process.on('SIGINT', ignore);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
    const settle = () => {
      clearTimeout(timer);
      process.off('SIGINT', ignore);
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, forward);
    };
    child.on('error', (error) => {
      settle();
      const isMissing = systemErrorCode(error) === 'ENOENT';
      const reason = isMissing ? 'there is no such program' : error.message;
      reject(new CliError(`${command} cannot be started: ${reason}.`, isMissing ? notFound : cannotStart));
    });
    child.on('exit', (code, signal) => {
      settle();
      resolve(code ?? killedBy + (signal ? constants.signals[signal] : 0));
    });
  });
}
