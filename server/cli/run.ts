/** `sluice run`: starts a program that finds Sluice in its environment, with a key of its own that ends with it. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { readEnvironment } from '../environment.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { openListening } from './open-control.ts';
import { createOutput, type Output } from './output.ts';
import { startProgram } from './start-program.ts';
import type { Terminal } from './terminal.ts';

export interface RunOptions {
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
    process.exitCode = await runProgram(run.args, options, terminal);
  });
}

/** Called with the program's key before the program starts; resolves with what is called once it has ended. */
export type AroundRun = (control: Control, keyId: string) => Promise<() => Promise<void>>;

const nothingAround: AroundRun = async () => async () => {};

/** Resolves with the program's exit code once it has ended. */
export async function runProgram(
  line: readonly string[],
  options: RunOptions,
  terminal: Terminal,
  around = nothingAround,
): Promise<number> {
  if (options.key && options.group) {
    throw new CliError('Use either --key or --group: a key belongs to its group.', exitCodes.usage);
  }
  const [command = ''] = line;
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
      const end = await around(control, key.id);
      try {
        const { origin } = control;
        return await startProgram(line, { origin, key, model: options.model, control, dataDir, env: terminal.env });
      } finally {
        await end();
      }
    } finally {
      await key.release();
    }
  } finally {
    await control.close();
  }
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
