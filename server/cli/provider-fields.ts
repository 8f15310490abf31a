/** The options for a provider's properties, for `provider add` and `provider put`. */

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cleanBaseUrl } from '../contract/address.ts';
import type { CommandInputMap } from '../contract/commands.ts';
import { type ConversationApi, conversationApiSchema, dialectSchema, type ProviderConfig } from '../contract/config.ts';
import { timeoutsSchema } from '../contract/policy.ts';
import type { ProviderView } from '../contract/provider-views.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { readTextFile, type Terminal } from './terminal.ts';
import { collectList } from './verb.ts';

export interface ProviderFieldOptions {
  url?: string;
  name?: string;
  dialect?: ProviderView['dialect'];
  models?: string[];
  header?: Record<string, string>;
  proxy?: string;
  certificate?: string;
  serves?: string[];
  apiVersion?: string;
  context?: number;
  free?: 'on' | 'off' | 'auto';
  askUsage?: 'on' | 'off';
  timeouts?: ProviderConfig['timeouts'];
}

type ProviderFields = CommandInputMap['provider.add']['provider'];

export function addProviderFields(command: Command): Command {
  return command
    .option('--url <base-url>', 'its base URL, including the version: https://api.example.com/v1', parseBaseUrl)
    .option('--name <text>', 'display name')
    .addOption(new Option('--dialect <name>', 'its API').choices(dialectSchema.options))
    .option(
      '--models <names>',
      'its models; "*" means any other name too; "discover" asks the provider (default)',
      collectList,
    )
    .option('--header <header>', '"Name: value", sent with every request; may be repeated; no secrets', collectHeader)
    .option('--proxy <url>', 'system (default), direct, or the URL of a proxy')
    .option(
      '--certificate <sha256>',
      'trust only the certificate with this fingerprint (AB:CD:…), whoever issued it; "usual" for those of trusted authorities',
    )
    .option('--serves <apis>', 'chat, responses, or "chat,responses" (default: as known for the service)', collectList)
    .option('--api-version <version>', 'the api-version of Azure')
    .option('--context <tokens>', 'the context window of its models, unless its model list has it', parseTokens)
    .addOption(
      new Option(
        '--free <state>',
        'whether its models cost nothing (auto: known local servers on this machine)',
      ).choices(['on', 'off', 'auto']),
    )
    .addOption(
      new Option('--ask-usage <state>', 'request usage in chat streams even if the client does not').choices([
        'on',
        'off',
      ]),
    )
    .option('--timeouts <timeouts>', `its timeouts, such as ${timeoutsHelp}; "usual" for the defaults`, parseTimeouts);
}

/** The given properties in the form that commands expect. */
export function providerFields(options: ProviderFieldOptions): ProviderFields {
  const { url, name, dialect, models, header, proxy, certificate } = options;
  const { serves, apiVersion, context, free, askUsage, timeouts } = options;
  return {
    ...(url && { baseUrl: url }),
    ...(name && { name }),
    ...(dialect && { dialect }),
    ...(models && { models: models.length === 1 && models[0] === 'discover' ? 'discover' : models }),
    ...(header && { headers: header }),
    ...(proxy && { proxy }),
    ...(certificate && { certificate: certificate === 'usual' ? null : certificate.toUpperCase() }),
    ...(serves && { serves: serves.map(servedApi) }),
    ...(apiVersion && { apiVersion }),
    ...(context && { contextTokens: context }),
    ...(free && { free: free === 'auto' ? null : free === 'on' }),
    ...(askUsage && { askUsage: askUsage === 'on' }),
    ...(timeouts && { timeouts }),
  };
}

const timeoutsHelp = 'connectMs=3000,firstByteMs=30000';

/** Replaces all timeouts of the provider. */
function parseTimeouts(text: string): ProviderConfig['timeouts'] {
  if (text.trim() === 'usual') return {};
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  const parsed = timeoutsSchema.safeParse(Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidArgumentError(`${issue?.path.join('.') || 'timeouts'}: ${issue?.message}. Use ${timeoutsHelp}.`);
}

/** As it was given, because the call whose address it may be tells the API. Everything else is checked with the configuration. */
function parseBaseUrl(text: string): string {
  if (/^https?:\/\//i.test(cleanBaseUrl(text))) return text;
  throw new InvalidArgumentError('Use an address that begins with http:// or https://.');
}

function servedApi(name: string): ConversationApi {
  const api = conversationApiSchema.options.find((each) => each === name);
  if (!api) throw new CliError(`"${name}" is not one of ${conversationApiSchema.options.join(', ')}.`, exitCodes.usage);
  return api;
}

function parseTokens(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a number of tokens, such as 128000.');
}

function collectHeader(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (!name || value === undefined) throw new InvalidArgumentError('Use "Name: value".');
  return { ...before, [name]: value };
}

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

/**
 * Reads a provider's credential. It is never read from an argument, because arguments are visible in the shell's
 * history and in `ps`.
 *
 * Whether an option gives the source of the credential, or declares that there is none.
 */
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
