/** Starts a program that finds Sluice in its environment, and waits until it ends. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { constants, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import spawn from 'cross-spawn';
import { toolEnvironment, withTool } from '../connect/tool-environment.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import { after } from '../ground/timers.ts';
import type { Control } from './control.ts';
import { chooseKey, chooseModel } from './env.ts';
import { CliError } from './programs/exit-codes.ts';
import type { RunFile } from './programs/program-context.ts';
import type { Terminal } from './terminal.ts';

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
