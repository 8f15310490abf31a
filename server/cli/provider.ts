import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandInputMap } from '../contract/commands.ts';
import { type ConversationApi, conversationApiSchema, dialectSchema } from '../contract/config.ts';
import type { ProbeReport } from '../contract/probe.ts';
import type { ProviderView } from '../contract/provider-views.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { localTime, table } from './output.ts';
import { type CredentialOptions, type GivenCredential, readCredential } from './read-credential.ts';
import { collectList, type VerbContext, type Verbs } from './verb.ts';

interface AddOptions extends CredentialOptions {
  id?: string;
  url?: string;
  name?: string;
  dialect?: ProviderView['dialect'];
  models?: string[];
  header?: Record<string, string>;
  proxy?: string;
  serves?: string[];
  apiVersion?: string;
  context?: string;
}

const credentialHelp = `
A credential is never passed as an argument: arguments are kept in the shell's history, and every user of this machine can
read them while the program runs. On a terminal you are asked for it; in a script, use one of

  sluice provider add openai --credential-env OPENAI_API_KEY
  sluice provider add openai --credential-file ./openai.key
  pass show openai | sluice provider add openai --credential-stdin

It is then stored in the system's keychain, or in an encrypted file where there is none. With --credential-ref nothing is
stored: Sluice reads it from its environment, or from the file, at each start.`;

export function addProviderVerbs(program: Command, verbs: Verbs): void {
  const provider = program.command('provider').description('manage providers: the services that answer requests');
  addAdd(provider, verbs);
  addCredential(provider, verbs);
  addLists(provider, verbs);
  addSwitches(provider, verbs);
}

function addAdd(provider: Command, { on }: Verbs): void {
  const add = provider
    .command('add')
    .argument('[preset]', 'a known service (see "provider presets"); otherwise use --url')
    .description('add a provider')
    .option('--id <id>', 'its id in the configuration')
    .option('--url <base-url>', 'its base URL, including the version: https://api.example.com/v1')
    .option('--name <text>', 'display name')
    .addOption(new Option('--dialect <name>', 'its API').choices(dialectSchema.options))
    .option('--models <names>', 'its models; "*" means any other name too (default: discovered)', collectList)
    .option('--header <header>', '"Name: value", sent with every request; may be repeated; no secrets', collectHeader)
    .option('--proxy <url>', 'system (default), direct, or the URL of a proxy')
    .option('--serves <apis>', 'chat, responses, or "chat,responses" (default: as known for the service)', collectList)
    .option('--api-version <version>', 'the api-version of Azure')
    .option('--context <tokens>', 'the context window of its models, unless its model list has it');
  addCredentialOptions(add);
  on<AddOptions>(add, async (context, [preset], options) => {
    const credential = await credentialFor(preset, options, context);
    const result = await context.control.execute({
      type: 'provider.add',
      ...(options.id && { id: options.id }),
      provider: changesOf(preset, options),
      ...(credential && { credentials: [credential] }),
    });
    context.output.show(result, `Provider "${result.provider.id}" is added${unusableHint(result.provider)}.`);
  });
}

function addCredential(provider: Command, { on }: Verbs): void {
  const credential = provider
    .command('credential')
    .argument('<provider>')
    .argument('[credential]', 'the id of the credential to replace or add', 'c1')
    .description('set a credential of a provider');
  addCredentialOptions(credential);
  on<CredentialOptions>(credential, async (context, [id = '', which = 'c1'], options) => {
    const given = await readCredential(options, context.terminal);
    if (!given) throw new CliError('No credential was given: see --help for how to pass it.', exitCodes.usage);
    const result = await context.control.execute({ type: 'credential.set', provider: id, id: which, ...given });
    context.output.show(result, `Credential "${which}" of provider "${id}" is set.`);
  });
}

function addCredentialOptions(command: Command): void {
  command
    .option('--credential-env <variable>', 'copy the credential from this environment variable')
    .option('--credential-file <path>', 'copy it from this file')
    .option('--credential-stdin', 'read it from stdin')
    .option('--credential-ref <env:NAME|file:PATH>', 'do not store it, but read it from there at each start')
    .option('--no-credential', 'the provider needs none')
    .addHelpText('after', credentialHelp);
}

function addLists(provider: Command, { on }: Verbs): void {
  on(provider.command('list').description('list the providers'), async ({ control, output }) => {
    const providers = await control.query({ type: 'providers' });
    const rows = providers.map((each) => [
      each.id,
      each.name,
      each.enabled ? 'on' : 'off',
      each.baseUrl,
      `${each.modelNames.length}${each.takesAnyModel ? ' and any other' : ''}`,
      describeHealth(each),
      each.unusable ?? each.health.reason ?? '',
    ]);
    output.show(
      providers,
      table(['id', 'name', 'state', 'base url', 'models', 'health', 'problem'], rows, 'There are no providers.'),
    );
  });

  on(provider.command('presets').description('list the known services'), async ({ control, output }) => {
    const presets = await control.query({ type: 'presets' });
    const rows = presets.map(({ id, name, baseUrl, needsCredential }) => [
      id,
      name,
      baseUrl,
      needsCredential ? 'yes' : 'no',
    ]);
    output.show(presets, table(['preset', 'name', 'base url', 'credential'], rows, 'There are no presets.'));
  });

  const models = provider
    .command('models')
    .argument('<id>')
    .description('discover the models of a provider now and list them');
  on(models, async ({ control, output }, [id = '']) => {
    const { provider: view } = await control.execute({ type: 'provider.refresh-models', id });
    if (view.discovery?.problem)
      throw new CliError(`The models of provider "${id}" cannot be discovered: ${view.discovery.problem}`);
    output.show(view.modelNames, view.modelNames.join('\n') || 'It lists no models.');
  });

  const test = provider
    .command('test')
    .argument('<id>')
    .option('--model <name>', 'call this model (default: one that is known to cost less than a cent for it)')
    .description('connect to a provider, call a model, and report the first step that fails');
  on<{ model?: string }>(test, async ({ control, output }, [id = ''], { model }) => {
    const result = await control.query({ type: 'provider-test', id, ...(model && { model }) });
    output.show(result, describeTest(result));
    if (!result.ok) process.exitCode = exitCodes.failure;
  });
}

function addSwitches(provider: Command, { on }: Verbs): void {
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const command = provider
      .command(verb)
      .argument('<id>')
      .description(`switch a provider ${enabled ? 'on' : 'off'}`);
    on(command, async ({ control, output }, [id = '']) => {
      const result = await control.execute({ type: 'provider.set-enabled', id, enabled });
      output.show(
        result,
        `Provider "${id}" is ${enabled ? 'on' : 'off'}${enabled ? unusableHint(result.provider) : ''}.`,
      );
    });
  }
  const reset = provider
    .command('reset')
    .argument('<id>')
    .argument('[credential]', 'only this credential')
    .description('reset the health of a provider: end its cooldowns and try refused credentials again');
  on(reset, async ({ control, output }, [id = '', credential]) => {
    const result = await control.execute({ type: 'provider.reset-health', id, ...(credential && { credential }) });
    output.show(
      result,
      `The health of ${credential ? `credential "${credential}" of ` : ''}provider "${id}" is reset.`,
    );
  });
  const remove = provider.command('remove').argument('<id>').description('remove a provider with its credentials');
  on(remove, async ({ control, output }, [id = '']) => {
    output.show(await control.execute({ type: 'provider.remove', id }), `Provider "${id}" is removed.`);
  });
}

/** One line for each step, without skipped ones; that no model was called is told too. */
export function describeTest(report: ProbeReport): string {
  const lines = report.steps
    .filter(({ name, status }) => status !== 'skipped' || (name === 'call' && report.ok))
    .map(({ status, name, message, advice }) =>
      [`  ${marks[status]}  ${name}: ${message}`, advice].filter(Boolean).join('. '),
    );
  const said = report.said === null ? [] : [`  It said: ${report.said}`];
  const hint = '  It has no Responses API: set "serves": ["chat"] to translate requests of that API.';
  return [headingOf(report), ...lines, ...said, ...(report.lacksResponses ? [hint] : [])].join('\n');
}

const marks = { ok: 'ok    ', failed: 'FAILED', skipped: 'not   ' };

function headingOf({ provider, ok, call, modelCount }: ProbeReport): string {
  if (!ok) return `Provider "${provider}" does not work:`;
  if (call) return `Provider "${provider}" answered in ${call.elapsedMs} ms with ${call.model}:`;
  return modelCount === null
    ? `Provider "${provider}" can be reached, but no model was called:`
    : `Provider "${provider}" lists ${modelCount} ${modelCount === 1 ? 'model' : 'models'}, but none was called:`;
}

async function credentialFor(
  preset: string | undefined,
  options: AddOptions,
  { control, terminal }: VerbContext,
): Promise<GivenCredential | undefined> {
  const known = preset ? (await control.query({ type: 'presets' })).find((each) => each.id === preset) : undefined;
  const given = await readCredential(options, terminal, known?.needsCredential !== false);
  if (!given && known?.needsCredential && options.credential !== false) {
    const set = known.environment.find((name) => terminal.env[name]);
    const way = set
      ? `${set} is set: use it with --credential-env ${set}`
      : 'see "provider add --help" for how to pass it';
    throw new CliError(`${known.name} needs a credential; ${way}.`, exitCodes.usage);
  }
  return given;
}

function servedApi(name: string): ConversationApi {
  const known = conversationApiSchema.options.find((each) => each === name);
  if (!known)
    throw new CliError(`"${name}" is not one of ${conversationApiSchema.options.join(', ')}.`, exitCodes.usage);
  return known;
}

function changesOf(preset: string | undefined, options: AddOptions): CommandInputMap['provider.add']['provider'] {
  const { url, name, dialect, models, header, proxy, serves, apiVersion, context } = options;
  return {
    ...(preset && { preset }),
    ...(url && { baseUrl: url }),
    ...(name && { name }),
    ...(dialect && { dialect }),
    ...(models && { models }),
    ...(header && { headers: header }),
    ...(proxy && { proxy }),
    ...(serves && { serves: serves.map(servedApi) }),
    ...(apiVersion && { apiVersion }),
    ...(context && { contextTokens: Number(context) }),
  };
}

/** `ok`, `cooling until 12:30:05`, and how fast it answers. */
function describeHealth({ enabled, health: { state, until, firstByteMs } }: ProviderView): string {
  if (!enabled) return '';
  const parts = [until === null ? state : `${state} until ${localTime(until).slice(-8)}`];
  if (firstByteMs !== null) parts.push(`${firstByteMs} ms`);
  return parts.join(', ');
}

function unusableHint({ unusable }: ProviderView): string {
  return unusable ? `, but cannot be used yet: ${unusable}` : '';
}

function collectHeader(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (!name || value === undefined) throw new InvalidArgumentError('Use "Name: value".');
  return { ...before, [name]: value };
}
