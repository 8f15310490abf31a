import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import type { Terminal } from './terminal.ts';

/** What a file holds, or for `-` what comes on stdin. Rejects with a GatewayError that says why it cannot be read. */
export function readInput(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<string> {
  return file === '-' ? text(stdin) : readTextFile(file);
}

export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new GatewayError('invalid_value', `${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}
