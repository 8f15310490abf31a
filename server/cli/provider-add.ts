/** `sluice provider add`, `put` and `credential`. */

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cleanBaseUrl } from '../contract/address.ts';
import type { CommandInputMap } from '../contract/commands.ts';
import { type ConversationApi, conversationApiSchema, dialectSchema, type ProviderConfig } from '../contract/config.ts';
import { timeoutsSchema } from '../contract/policy.ts';
import type { ProbeReport } from '../contract/probe.ts';
import type { ProviderTrial } from '../contract/provider-commands.ts';
import { apiNames, type ProviderView } from '../contract/provider-views.ts';
import { type Examples, notes } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { line, type Shown, styled, verdict } from './shown.ts';
import { askYesNo, readTextFile, type Terminal } from './terminal.ts';
import { collectList, type VerbContext, type Verbs } from './verb.ts';

interface AddOptions extends CredentialOptions, ProviderFieldOptions {
  id?: string;
  test: boolean;
}

const credentialHelp = `
A credential is never passed as an argument: arguments are kept in the shell's history, and every user of this machine can
read them while the program runs. On a terminal you are asked for it; in a script, use one of

  sluice provider add openai --credential-env OPENAI_API_KEY
  sluice provider add openai --credential-file ./openai.key
  pass show openai | sluice provider add openai --credential-stdin

It is then stored in the system's keychain, or in an encrypted file where there is none. With --credential-ref nothing is
stored: Sluice reads it from its environment at each start, or from the file, whenever that changes.`;

const addHelp = `
The new provider is tested. If the test fails, it stays added, and the exit code is 1. With --url, any address of the service
will do, with or without scheme and the path of a call; unless --dialect says it, the service is asked which API it speaks.`;

export const providerAddExamples: Examples = {
  'provider add': [
    'sluice provider add openai',
    'sluice provider add anthropic --credential-env ANTHROPIC_API_KEY',
    'sluice provider add ollama',
    'sluice provider add --url https://llm.example.com/v1 --id example --credential-file ./example.key',
  ],
  'provider put': ['sluice provider put example --models discover', 'sluice provider put example --context 128000'],
  'provider credential': [
    'sluice provider credential openai',
    'sluice provider credential openai second',
    'sluice provider credential openai second --disable',
  ],
};

export function addProviderAddVerbs(provider: Command, verbs: Verbs): void {
  addAdd(provider, verbs);
  addPut(provider, verbs);
  addCredential(provider, verbs);
}

function addAdd(provider: Command, { on }: Verbs): void {
  const add = provider
    .command('add')
    .argument('[preset]', 'a known service (see "provider presets"); otherwise use --url')
    .description('add a provider and test it')
    .option('--id <id>', 'its id in the configuration');
  addProviderFields(add);
  addCredentialOptions(add);
  add.option('--no-test', 'do not test it').addHelpText('after', notes(addHelp));
  on<AddOptions>(add, async (context, [preset], options) => {
    const credential = await credentialFor(preset, options, context);
    const credentials = credential ? [credential] : [];
    const fields = { ...(preset && { preset }), ...providerFields(options) };
    const isUnknown = options.test && !preset && !options.dialect && options.url !== undefined;
    const trial = isUnknown
      ? await context.control.execute({ type: 'provider.try', provider: fields, address: options.url, credentials })
      : null;
    const added = await context.control.execute({
      type: 'provider.add',
      ...(options.id && { id: options.id }),
      provider: trial?.provider ?? fields,
      credentials,
    });
    await reportAdded({ added, trial }, options, context);
  });
}

async function reportAdded(
  { added, trial }: { added: { provider: ProviderView }; trial: ProviderTrial | null },
  { test }: AddOptions,
  { control, output }: VerbContext,
): Promise<void> {
  const { id, unusable, dialect, baseUrl } = added.provider;
  const head = `Provider "${id}" is added`;
  if (!test || unusable !== null) {
    output.show(added, `${head}${unusableHint(added.provider)}.`);
    return;
  }
  const report = trial ? { ...trial.report, provider: id } : await control.query({ type: 'provider-test', id });
  const found = trial?.isFound ? [`It speaks ${apiNames[dialect]} at ${baseUrl}.`] : [];
  output.show({ ...added, test: report }, [`${head}.`, ...found, describeTest(report)]);
  if (!report.ok) process.exitCode = exitCodes.failure;
}

function addPut(provider: Command, { on }: Verbs): void {
  const put = provider
    .command('put')
    .argument('<id>')
    .description('change the given properties of a provider; its credentials stay the same');
  addProviderFields(put);
  on<ProviderFieldOptions>(put, async ({ control, output }, [id = ''], options) => {
    const changes = providerFields(options);
    if (Object.keys(changes).length === 0) {
      throw new CliError('Nothing to change was given: see "provider put --help".', exitCodes.usage);
    }
    const result = await control.execute({ type: 'provider.update', id, changes });
    output.show(result, `Provider "${id}" is stored${unusableHint(result.provider)}.`);
  });
}

function addCredential(provider: Command, { on }: Verbs): void {
  const credential = provider
    .command('credential')
    .argument('<provider>')
    .argument('[credential]', 'the id of the credential to replace or add', 'c1')
    .description('set a credential of a provider');
  addCredentialOptions(credential);
  credential.option('--enable', 'use it again').option('--disable', 'keep it, but do not use it');
  on<CredentialOptions & SwitchOptions>(credential, async (context, [id = '', which = 'c1'], options) => {
    const enabled = switchedTo(options);
    if (enabled !== undefined && !hasCredentialOption(options)) {
      const command = { type: 'credential.set' as const, provider: id, id: which, enabled };
      const result = await context.control.execute(command);
      context.output.show(result, `Credential "${which}" of provider "${id}" is ${enabled ? 'enabled' : 'disabled'}.`);
      return;
    }
    const newCredential = await readCredential(options, context.terminal);
    if (!newCredential) throw new CliError('No credential was given: see --help for how to pass it.', exitCodes.usage);
    const result = await context.control.execute({
      type: 'credential.set',
      provider: id,
      id: which,
      ...newCredential,
      ...(enabled !== undefined && { enabled }),
    });
    context.output.show(result, `Credential "${which}" of provider "${id}" is set.`);
  });
}

interface SwitchOptions {
  enable?: boolean;
  disable?: boolean;
}

/** Undefined: stays as it is. */
function switchedTo({ enable, disable }: SwitchOptions): boolean | undefined {
  if (enable && disable) throw new CliError('Use either --enable or --disable.', exitCodes.usage);
  return enable ? true : disable ? false : undefined;
}

function addCredentialOptions(command: Command): void {
  command
    .option('--credential-env <variable>', 'copy the credential from this environment variable')
    .option('--credential-file <path>', 'copy it from this file')
    .option('--credential-stdin', 'read it from stdin')
    .option('--credential-ref <env:NAME|file:PATH>', 'do not store it, but read it from there')
    .option('--no-credential', 'the provider needs none')
    .addHelpText('after', notes(credentialHelp));
}

async function credentialFor(
  preset: string | undefined,
  options: AddOptions,
  { control, terminal }: VerbContext,
): Promise<GivenCredential | undefined> {
  const knownPreset = preset
    ? (await control.query({ type: 'presets' })).find((each) => each.id === preset)
    : undefined;
  const variable = knownPreset?.environment.find((name) => terminal.env[name]);
  const isAsked = terminal.stdin.isTTY && !hasCredentialOption(options);
  if (variable && isAsked && (await askYesNo(`${variable} is set here. Use it?`, terminal))) {
    return readCredential({ credentialEnv: variable }, terminal);
  }
  const newCredential = await readCredential(options, terminal, knownPreset?.needsCredential !== false);
  if (!newCredential && knownPreset?.needsCredential && options.credential !== false) {
    const advice = variable
      ? `${variable} is set: use it with --credential-env ${variable}`
      : 'see "provider add --help" for how to pass it';
    throw new CliError(`${knownPreset.name} needs a credential; ${advice}.`, exitCodes.usage);
  }
  return newCredential;
}

/** Why the provider receives no requests, as the end of a sentence. */
export function unusableHint({ unusable }: ProviderView): string {
  return unusable ? `, but cannot be used yet: ${unusable}` : '';
}

/**
 * One line per step. Skipped steps are omitted, except the model call of a successful test, which shows that no model
 * was called.
 */
export function describeTest(report: ProbeReport): Shown {
  const lines = report.steps
    .filter(({ name, status }) => status !== 'skipped' || (name === 'call' && report.ok))
    .map(({ status, name, message, advice }) =>
      line('  ', marks[status], `  ${[`${name}: ${message}`, advice].filter(Boolean).join('. ')}`),
    );
  const quoted = report.said === null ? [] : [`  It said: ${report.said}`];
  const hint = '  It has no Responses API: set "serves": ["chat"] to translate requests of that API.';
  return [headingOf(report), ...lines, ...quoted, ...(report.lacksResponses ? [hint] : [])];
}

const marks = { ok: verdict(true), failed: verdict(false), skipped: styled('off', 'not   ') };

function headingOf({ provider, ok, call, modelCount }: ProbeReport): string {
  if (!ok) return `Provider "${provider}" does not work:`;
  if (call) return `Provider "${provider}" answered in ${call.elapsedMs} ms with ${call.model}:`;
  return modelCount === null
    ? `Provider "${provider}" can be reached, but no model was called:`
    : `Provider "${provider}" lists ${modelCount} ${modelCount === 1 ? 'model' : 'models'}, but none was called:`;
}

interface ProviderFieldOptions {
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

/** The options for a provider's properties, for `provider add` and `provider put`. */
function addProviderFields(command: Command): Command {
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
function providerFields(options: ProviderFieldOptions): ProviderFields {
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

interface CredentialOptions {
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
function hasCredentialOption(options: CredentialOptions): boolean {
  const { credentialEnv, credentialFile, credentialStdin, credentialRef, credential } = options;
  return (
    credential === false ||
    [credentialEnv, credentialFile, credentialStdin, credentialRef].some((source) => source !== undefined)
  );
}

type GivenCredential = { secret: string } | { reference: string };

/**
 * Resolves with the value without a trailing line end; undefined if none was given or entered.
 *
 * @param mayAsk whether to ask on a terminal if no option gives it
 */
async function readCredential(
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
