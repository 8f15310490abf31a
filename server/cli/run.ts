/** `sluice run`: starts a program that finds Sluice in its environment, with a key of its own that ends with it. */
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import spawn from 'cross-spawn';
import { readEnvironment } from '../environment.ts';
import { systemErrorCode } from '../files/file-problem.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { openListening } from './open-control.ts';
import { createOutput, type Output } from './output.ts';
import { type ProgramSettings, programSettings } from './program-settings.ts';
import type { Terminal } from './terminal.ts';
import { toolEnvironment, withTool } from './tool-environment.ts';

interface RunOptions {
  key?: string;
  group?: string;
  model?: string;
  dataDir?: string;
}

interface RunKey {
  id: string;
  secret: string;
  /** Ends it, unless it was there before. */
  release(): Promise<void>;
}

const help = `
The program gets OPENAI_*, ANTHROPIC_* and GEMINI_* variables that lead to Sluice, and so do the programs that it starts. Codex,
opencode and Gemini CLI, which need more than these, get it for this run. If no Sluice is running, one runs as long as the program.

The exit code is the program's; 127 if it cannot be found, 126 if it cannot be started.`;

export function addRun(program: Command, terminal: Terminal): void {
  const run = program
    .command('run')
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description('start a program that uses Sluice, with a key that ends with it')
    .option('--key <id>', 'use this key, whose secret must be kept, instead of a new one')
    .option('--group <id>', 'the group of the new key (default: default)')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .option('--data-dir <folder>', 'the data folder')
    .addHelpText('after', help)
    .passThroughOptions();
  run.action(async () => {
    const options = run.opts<RunOptions>();
    if (options.key && options.group) {
      throw new CliError('Use either --key or --group: a key belongs to its group.', exitCodes.usage);
    }
    process.exitCode = await runProgram(run.args, options, terminal);
  });
}

/** Resolves with the program's exit code once it has ended. */
async function runProgram(line: readonly string[], options: RunOptions, terminal: Terminal): Promise<number> {
  const [command = '', ...parameters] = line;
  const output = createOutput(terminal, false);
  const environment = readEnvironment(terminal.env);
  const dataDir = options.dataDir ?? environment.dataDir;
  const control = await openListening(dataDir, {
    environment,
    env: terminal.env,
    notice: output.note,
    teamPresets: terminal.teamPresets,
    windowFolders: terminal.windowFolders,
  });
  try {
    const key = await keyFor(basename(command), options, { control, output });
    try {
      const models = await control.query({ type: 'models', key: key.id });
      const access = { origin: control.origin, key: key.secret, model: options.model };
      const settings = programSettings(
        command,
        access,
        models.map(({ id }) => id),
      );
      const env = {
        ...withTool(terminal.env, toolEnvironment(access, terminal.env)),
        ...settings.env,
        ...(await writtenSettings(settings, dataDir, terminal.env)),
      };
      return await waitFor(command, [...settings.parameters, ...parameters], env);
    } finally {
      await key.release();
    }
  } finally {
    await control.close();
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
  { key: id, group }: RunOptions,
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
