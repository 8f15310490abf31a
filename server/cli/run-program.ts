/** Starts a program that finds Sluice in its environment, and waits for its end. */
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, resolve } from 'node:path';
import spawn from 'cross-spawn';
import { systemErrorCode } from '../files/file-problem.ts';
import type { Control, ListeningControl } from './control.ts';
import { CliError } from './exit-codes.ts';
import type { Output } from './output.ts';
import { type ProgramSettings, programSettings } from './program-settings.ts';
import type { Terminal } from './terminal.ts';
import { toolEnvironment, withTool } from './tool-environment.ts';

/** Which key the program uses: this one, or a new one of the group. */
export interface RunChoices {
  key?: string;
  group?: string;
  model?: string;
}

interface RunPlace {
  control: ListeningControl;
  output: Output;
  env: Terminal['env'];
  /** For files of the program's settings. */
  dataDir: string;
}

interface RunKey {
  id: string;
  secret: string;
  /** Ends it, unless it was there before. */
  release(): Promise<void>;
}

/** Resolves with the program's exit code once it has ended. */
export async function runProgram(line: readonly string[], choices: RunChoices, place: RunPlace): Promise<number> {
  const [command = '', ...parameters] = line;
  const { control, env: present, dataDir } = place;
  const key = await keyFor(basename(command), choices, place);
  try {
    const models = await control.query({ type: 'models', key: key.id });
    const access = { origin: control.origin, key: key.secret, model: choices.model };
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
    return await waitFor(command, [...settings.parameters, ...parameters], env);
  } finally {
    await key.release();
  }
}

/** Writes the file of a program's settings, unless the user has one of their own; returns the variable that names it. */
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

const dayMs = 24 * 3_600_000;

/**
 * A new key expires within a day, in case this process is killed and cannot revoke it; a program that runs for longer keeps it
 * by having its end put off.
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
  const inADay = () => new Date(Date.now() + dayMs).toISOString();
  const made = await control.execute({
    type: 'key.create',
    name: `${programName} (run)`,
    ...(group && { group }),
    expiresAt: inADay(),
    keepSecret: false,
  });
  const keyId = made.key.id;
  const report = (error: unknown) =>
    output.note(`Key "${keyId}" stays until it expires: ${error instanceof Error ? error.message : String(error)}`);
  const renewal = setInterval(() => {
    control.execute({ type: 'key.update', id: keyId, changes: { expiresAt: inADay() } }).catch(report);
  }, dayMs / 2);
  const release = async () => {
    clearInterval(renewal);
    await control.execute({ type: 'key.revoke', id: keyId }).catch(report);
  };
  return { id: keyId, secret: made.secret, release };
}

/** The exit codes of env(1) and of POSIX shells. */
const cannotStart = 126;
const notFound = 127;
const killedBy = 128;

function waitFor(command: string, parameters: string[], env: Readonly<Record<string, string | undefined>>) {
  return new Promise<number>((resolve, reject) => {
    const child = spawn(command, parameters, { stdio: 'inherit', env });
    // Ctrl+C reaches the program itself, which shares the terminal; this process ends after it.
    const ignore = () => {};
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    process.on('SIGINT', ignore);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
    const settle = () => {
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
