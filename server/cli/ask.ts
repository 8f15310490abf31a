import { createInterface } from 'node:readline/promises';
import { CliError, exitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** False unless the user answers yes. Rejects with a CliError if stdin is not a terminal. */
export async function askYesNo(question: string, { stdin, stderr }: Terminal): Promise<boolean> {
  if (!stdin.isTTY) throw new CliError('Cannot ask for confirmation without a terminal: use --yes.', exitCodes.usage);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} (y/N) `)).trim());
  } finally {
    lines.close();
  }
}
