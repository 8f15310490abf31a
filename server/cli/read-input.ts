import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem } from '../ground/files/file-problem.ts';
import type { Terminal } from './terminal.ts';

/** Reads a file, or stdin for `-`. Rejects with a GatewayError if it cannot be read. */
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
