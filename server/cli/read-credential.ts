/**
 * How the secret of a provider comes in. Never as an argument: those are in the shell's history, and every user of the
 * machine can read them in the list of processes while the program runs.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, exitCodes } from './exit-codes.ts';
import { readTextFile } from './read-input.ts';
import type { Terminal } from './terminal.ts';

export interface CredentialOptions {
  /** Name of a variable. */
  credentialEnv?: string;
  /** Path of a file. */
  credentialFile?: string;
  credentialStdin?: boolean;
  /** `env:NAME` or `file:PATH`: stays where it is. */
  credentialRef?: string;
  /** False: none, and no question. */
  credential?: boolean;
}

export type GivenCredential = { secret: string } | { reference: string };

/**
 * The value without the line end that files and pipes bring; undefined if none is given and none was entered.
 *
 * @param mayAsk whether a person at a terminal is asked for what no option gives
 */
export async function readCredential(
  options: CredentialOptions,
  terminal: Terminal,
  mayAsk = true,
): Promise<GivenCredential | undefined> {
  const { credentialEnv, credentialFile, credentialStdin, credentialRef, credential } = options;
  const ways = [credentialEnv, credentialFile, credentialStdin, credentialRef].filter((way) => way !== undefined);
  if (ways.length > 1) throw new CliError('Give the credential in one way only.', exitCodes.usage);
  if (credentialRef !== undefined) return { reference: credentialRef };
  if (credentialEnv !== undefined) return { secret: fromEnvironment(credentialEnv, terminal) };
  if (credentialFile !== undefined) return { secret: nonEmpty(await readTextFile(credentialFile), credentialFile) };
  if (credentialStdin) return { secret: nonEmpty(await text(terminal.stdin), 'stdin') };
  if (!mayAsk || credential === false || !terminal.stdin.isTTY) return undefined;
  const secret = await ask(terminal);
  return secret ? { secret } : undefined;
}

function fromEnvironment(name: string, { env }: Terminal): string {
  const value = env[name];
  if (value) return value;
  throw new CliError(`The environment has no variable ${name}, or it is empty.`);
}

function nonEmpty(value: string, source: string): string {
  const secret = value.replace(/\r?\n$/, '');
  if (secret) return secret;
  throw new CliError(`There is no credential in ${source}: it is empty.`);
}

/** Without echo. */
async function ask({ stdin, stderr }: Terminal): Promise<string> {
  stderr.write('Credential (not shown; empty for none): ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return (await lines.question('')).trim();
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
