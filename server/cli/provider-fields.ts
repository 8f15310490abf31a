/** The options for a provider's properties, for `provider add` and `provider put`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cleanBaseUrl } from '../contract/base-url.ts';
import type { CommandInputMap } from '../contract/commands.ts';
import { type ConversationApi, conversationApiSchema, dialectSchema, type ProviderConfig } from '../contract/config.ts';
import { timeoutsSchema } from '../contract/policy.ts';
import type { ProviderView } from '../contract/provider-views.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
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
