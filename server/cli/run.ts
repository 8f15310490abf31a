/**
 * `sluice run`: starts a program that finds Sluice in its environment, with its own key that is revoked when it ends.
 */

import type { Command } from 'commander';
import { readEnvironment } from '../engine/environment.ts';
import { type Examples, notes } from './help.ts';
import { openListening } from './open-control.ts';
import { createOutput } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type AroundRun, type RunChoices, runProgram } from './run-program.ts';
import type { Terminal } from './terminal.ts';
import { withWayOn } from './wrong-usage.ts';

export interface RunOptions extends RunChoices {
  dataDir?: string;
}

const help = `
The program gets OPENAI_*, ANTHROPIC_* and GEMINI_* variables that lead to Sluice, and so do the programs that it starts. Claude
Code, Codex, Gemini CLI, opencode, Qwen Code, Aider and Continue (cn) use Sluice for this run whatever their own settings
files, profiles and .env files say; none of these is changed. What outranks a run, such as an organisation's managed settings
or an argument that names another provider, is refused before the program starts; Gemini CLI skips the run's settings where others
than root can change their folder, which is told if its own name another sign-in. If no request to a model has come through
Sluice by the end, that is told. If no Sluice is running, one runs as long as the program.

The exit code is the program's; 127 if it cannot be found, 126 if it cannot be started.`;

export const runExamples: Examples = {
  run: [
    'sluice run -- claude',
    'sluice run --model groq/openai/gpt-oss-120b -- codex',
    'sluice run --group writing -- python summarize.py',
  ],
};

export function addRun(program: Command, terminal: Terminal): void {
  const run = program
    .command('run')
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description('start a program that uses Sluice, with a key that is revoked when it exits')
    .option('--key <id>', 'use this key, whose secret must be kept, instead of a new one')
    .option('--group <id>', 'the group of the new key (default: default)')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .option('--data-dir <folder>', 'the data folder')
    .addHelpText('after', notes(help))
    .passThroughOptions();
  run.action(async () => {
    const options = run.opts<RunOptions>();
    process.exitCode = await runHere(run.args, options, terminal);
  });
}

/** Uses the Sluice of the data folder; if none is running, starts one for as long as the program runs. */
export async function runHere(
  line: readonly string[],
  options: RunOptions,
  terminal: Terminal,
  around?: AroundRun,
): Promise<number> {
  if (options.key && options.group) {
    throw new CliError('Use either --key or --group: a key belongs to its group.', exitCodes.usage);
  }
  const output = createOutput(terminal, false);
  const environment = readEnvironment(terminal.env);
  const dataDir = options.dataDir ?? environment.dataDir;
  const control = await openListening(dataDir, {
    environment,
    env: terminal.env,
    notice: output.note,
    teamPresets: terminal.teamPresets,
    loadTeam: terminal.loadTeam,
    windowFolders: terminal.windowFolders,
  });
  try {
    return await runProgram(line, options, { control, output, env: terminal.env, dataDir, around });
  } catch (error) {
    throw await withWayOn(error, control);
  } finally {
    await control.close();
  }
}
