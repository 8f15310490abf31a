/** `sluice provider add`, `put` and `credential`. */
import type { Command } from 'commander';
import type { ProbeReport } from '../contract/probe.ts';
import type { ProviderTrial } from '../contract/provider-commands.ts';
import { apiNames, type ProviderView } from '../contract/provider-views.ts';
import type { Examples } from './examples.ts';
import { notes } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import {
  addProviderFields,
  type CredentialOptions,
  type GivenCredential,
  hasCredentialOption,
  type ProviderFieldOptions,
  providerFields,
  readCredential,
} from './provider-fields.ts';
import { line, type Shown, styled, verdict } from './shown.ts';
import { askYesNo } from './terminal.ts';
import type { VerbContext, Verbs } from './verb.ts';

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
