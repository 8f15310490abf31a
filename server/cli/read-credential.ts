/**
 * Reads a provider's credential. It is never read from an argument, because arguments are visible in the shell's
 * history and in `ps`.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { readTextFile } from './read-input.ts';
import type { Terminal } from './terminal.ts';

export interface CredentialOptions {
  /** Name of an environment variable. */
  credentialEnv?: string;
  /** Path of a file. */
  credentialFile?: string;
  credentialStdin?: boolean;
  /** `env:NAME` or `file:PATH`: a reference, not copied. */
  credentialRef?: string;
  /** False: the provider has no credential, so do not ask. */
  credential?: boolean;
}

/** Whether an option gives the source of the credential, or declares that there is none. */
export function hasCredentialOption(options: CredentialOptions): boolean {
  const { credentialEnv, credentialFile, credentialStdin, credentialRef, credential } = options;
  return (
    credential === false ||
    [credentialEnv, credentialFile, credentialStdin, credentialRef].some((source) => source !== undefined)
  );
}

export type GivenCredential = { secret: string } | { reference: string };

/**
 * Resolves with the value without a trailing line end; undefined if none was given or entered.
 *
 * @param mayAsk whether to ask on a terminal if no option gives it
 */
export async function readCredential(
  options: CredentialOptions,
  terminal: Terminal,
  mayAsk = true,
): Promise<GivenCredential | undefined> {
  const { credentialEnv, credentialFile, credentialStdin, credentialRef, credential } = options;
  const sources = [credentialEnv, credentialFile, credentialStdin, credentialRef].filter(
    (source) => source !== undefined,
  );
  if (sources.length > 1) throw new CliError('Use only one of the --credential options.', exitCodes.usage);
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
  throw new CliError(`The environment variable ${name} is not set or empty.`);
}

function nonEmpty(value: string, source: string): string {
  const secret = value.replace(/\r?\n$/, '');
  if (secret) return secret;
  throw new CliError(`There is no credential in ${source}: it is empty.`);
}

/** Asks without echo. */
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
