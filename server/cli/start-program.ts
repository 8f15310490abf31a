/** Starts a program that finds Sluice in its environment, and waits until it ends. */
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import spawn from 'cross-spawn';
import { systemErrorCode } from '../files/file-problem.ts';
import type { Control } from './control.ts';
import { CliError } from './exit-codes.ts';
import { type ProgramSettings, programSettings } from './program-settings.ts';
import type { Terminal } from './terminal.ts';
import { toolEnvironment, withTool } from './tool-environment.ts';

interface ProgramStart {
  origin: string;
  key: { id: string; secret: string };
  model: string | undefined;
  control: Pick<Control, 'query'>;
  dataDir: string;
  env: Terminal['env'];
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
  const settings = programSettings(
    command,
    access,
    models.map(({ id }) => id),
  );
  const env = {
    ...withTool(present, toolEnvironment(access, present)),
    ...settings.env,
    ...(await writtenSettings(settings, dataDir, present)),
  };
  return waitFor(command, [...settings.parameters, ...parameters], { env, quiet, timeoutMs });
}

/** Writes the program's settings file, unless the user already has one; returns the variable that contains its path. */
async function writtenSettings(
  { file }: ProgramSettings,
  dataDir: string,
  present: Terminal['env'],
): Promise<Record<string, string>> {
  if (!file || present[file.variable]) return {};
  const path = resolve(dataDir, file.name);
  await writeFile(path, file.text, { mode: 0o600 });
  return { [file.variable]: path };
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
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
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
