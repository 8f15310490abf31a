import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Returns true only if the user answers yes. Rejects with a CliError if stdin is not a terminal. */
export async function askYesNo(question: string, { stdin, stderr }: Terminal): Promise<boolean> {
  if (!stdin.isTTY) throw new CliError('Cannot ask for confirmation without a terminal: use --yes.', exitCodes.usage);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} (y/N) `)).trim());
  } finally {
    lines.close();
  }
}

export interface ConfirmOptions {
  yes?: boolean;
}

/** Adds `--yes` to a command whose effect cannot be undone. */
export function withConfirmation(command: Command): Command {
  return command.option('-y, --yes', 'do not ask for confirmation');
}

/** Rejects with a CliError unless `--yes` is given or the user agrees. */
export async function confirm(question: string, { yes }: ConfirmOptions, terminal: Terminal): Promise<void> {
  if (yes || (await askYesNo(question, terminal))) return;
  throw new CliError('Nothing was changed.');
}
