import { createInterface } from 'node:readline/promises';
import { CliError, exitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** False unless a person says yes. Rejects with a CliError where there is none to ask. */
export async function askYesNo(question: string, { stdin, stderr }: Terminal): Promise<boolean> {
  if (!stdin.isTTY) throw new CliError('There is nobody to ask here: say --yes.', exitCodes.usage);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} (y/N) `)).trim());
  } finally {
    lines.close();
  }
}
