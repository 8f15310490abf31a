import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { homeOf, placeOf } from '../connect/home-file.ts';
import type { KeyView } from '../contract/access-views.ts';
import { baseUrlOf } from '../contract/address.ts';
import { type ClientGuide, type Connection, type GuideStep, withoutVersion } from '../contract/clients/client-guide.ts';
import { type ArrangedSteps, arrangeSteps, clientGuides, stepsOf } from '../contract/clients/client-guides.ts';
import { stepTexts } from '../contract/clients/step-texts.ts';
import { formatMessage } from '../contract/coded.ts';
import type { AppliedConnection, ConnectPreview, StrongerSetting } from '../contract/connect-views.ts';
import type { Control } from './control.ts';
import { chooseKey, chooseModel } from './env.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { isAdmin } from './role.ts';
import { optional, styled, table } from './shown.ts';
import { askYesNo } from './terminal.ts';
import type { VerbContext, Verbs } from './verb.ts';
import { didYouMean } from './wrong-usage.ts';

interface ConnectFlags {
  print?: boolean;
  write?: boolean;
  undo?: boolean;
  key?: string;
  model?: string;
  yes?: boolean;
}

export const connectExamples: Examples = {
  connect: [
    'sluice connect',
    'sluice connect codex',
    'sluice connect claude-code --write',
    'sluice connect codex --undo',
  ],
};

export function addConnectVerb(program: Command, { on }: Verbs): void {
  const connect = program
    .command('connect')
    .argument('[client]', 'such as codex or claude-code; without it, all clients are listed')
    .description('set up a client: print the steps, or write its configuration file')
    .option('--print', 'print the steps (default)')
    .addOption(new Option('--write', 'show the change of its configuration file, and make it').conflicts('print'))
    .addOption(
      new Option('--undo', 'take that change back; keeps what others changed since').conflicts(['print', 'write']),
    )
    .option('--key <id>', 'the key that it uses (default: the first that can be shown again)')
    .option('--model <name>', 'the model that it uses (default: the group’s default for chat)')
    .option('-y, --yes', 'write without asking');
  on<ConnectFlags>(connect, async (context, [id], flags) => {
    if (id === undefined) return list(context);
    const guide = clientGuides.find((each) => each.id === id);
    if (!guide) {
      const nearest = didYouMean(
        id,
        clientGuides.map((each) => each.id),
      );
      throw new CliError(`There is no client "${id}".${nearest || ' "sluice connect" lists them.'}`, exitCodes.usage);
    }
    if (flags.undo) return undo(context, guide, flags);
    return flags.write ? write(context, guide, flags) : print(context, guide, flags);
  });
}

async function list({ control, output }: VerbContext): Promise<void> {
  // The files are those of the gateway's machine, which only an administrator may see.
  const configurable = (await isAdmin(control)) ? await control.query({ type: 'connect-clients' }) : null;
  const clients = clientGuides.map(({ id, name }) => {
    const view = configurable?.find(({ client }) => client === id);
    return { client: id, name, files: view?.files ?? [], applied: view?.applied ?? null };
  });
  const rows = clients.map(({ client, name, files, applied }) => {
    const state = applied
      ? styled(applied.stronger.length === 0 && !applied.hasOldKey ? 'good' : 'warning', stateOf(applied))
      : '';
    return [client, name, files.join(', ') || (configurable ? '(steps only)' : ''), state];
  });
  output.show(clients, table(['client', optional('name'), optional('written by --write'), 'state'], rows, ''));
}

function stateOf({ model, stronger, hasOldKey }: AppliedConnection): string {
  if (hasOldKey) return 'set up with an old key: write again';
  return stronger.length === 0 ? `set up for ${model}` : `written for ${model}, but ${listed(stronger)} comes first`;
}

async function print({ control, output }: VerbContext, guide: ClientGuide, flags: ConnectFlags): Promise<void> {
  const key = await chooseKey(control, flags.key).catch(() => null);
  const model = flags.model ?? (key && (await chooseModel(control, key).catch(() => null))) ?? 'MODEL';
  const steps = stepsOf(guide, { baseUrl: await connectionUrl(control), key: 'YOUR_KEY', model });
  const shown = steps.map((step) => ({ ...step, say: formatMessage(stepTexts, step.say) }));
  output.show({ client: guide.id, steps: shown }, textOf(arrangeSteps(steps)));
  if (!output.isJson)
    output.note(`\nYOUR_KEY: ${key ? `"sluice key reveal ${key.id}" prints it` : 'see "sluice key list"'}.`);
}

function textOf({ before, acts }: ArrangedSteps): string {
  const sayOf = (step: GuideStep) => `${formatMessage(stepTexts, step.say)}${indented(step)}`;
  // One alone needs no number.
  const numberOf = (index: number) => (acts.length > 1 ? `${index + 1}. ` : '');
  const numbered = acts.flatMap(({ step, notes }, index) => [`${numberOf(index)}${sayOf(step)}`, ...notes.map(sayOf)]);
  return [...before.map(sayOf), ...numbered].join('\n\n');
}

function indented(step: object): string {
  if ('snippet' in step) return `\n\n${String(step.snippet).replaceAll(/^/gm, '    ')}`;
  if (!('fields' in step)) return '';
  const fields = step.fields as readonly { label: string; value: string }[];
  return `\n\n${fields.map(({ label, value }) => `    ${label}: ${value}`).join('\n')}`;
}

async function write(context: VerbContext, guide: ClientGuide, flags: ConnectFlags): Promise<void> {
  const { control, output } = context;
  const key = await chooseKey(control, flags.key);
  const model = flags.model ?? (await chooseModel(control, key));
  const connection = { client: guide.id, key: key.id, model };
  const preview = await control.query({ type: 'connect-preview', ...connection });
  const stronger = await strongerHere(context, preview, { model, key });
  await agree(context, preview, flags);
  await control.execute({ type: 'connect.apply', ...connection, fingerprint: preview.fingerprint });
  output.show({ ...preview, stronger, model, key: key.id }, outcome(guide.name, model, stronger));
  if (preview.keyVariable !== null) {
    output.note(`Start it with its key: export ${preview.keyVariable}="$(sluice key reveal ${key.id})"`);
  }
  const steps = stepsOf(guide, { baseUrl: await connectionUrl(control), key: 'YOUR_KEY', model });
  for (const step of steps) if ('isWarning' in step && step.isWarning) output.note(formatMessage(stepTexts, step.say));
  if (control.origin !== null && key.canReveal) {
    const { secret } = await control.execute({ type: 'key.reveal', id: key.id });
    output.note(await askModel({ origin: control.origin, secret, model }));
  }
}

function outcome(client: string, model: string, stronger: readonly StrongerSetting[]): string {
  if (stronger.length === 0) return `${client} is set up for ${model}.`;
  return (
    `The settings are written, but ${client} does not use Sluice yet: it prefers ${listed(stronger)}. ` +
    'Remove what is named, or ask whoever manages it to do so.'
  );
}

function listed(settings: readonly StrongerSetting[]): string {
  return settings
    .map(({ place, setting }) => (place === null ? `${setting} of the environment` : `${setting} in ${place}`))
    .join(', ');
}

/** What the client would prefer if it were started from this terminal, in this folder. */
async function strongerHere(
  { control, terminal: { env } }: VerbContext,
  { client, files, keyVariable }: ConnectPreview,
  { model, key }: { model: string; key: KeyView },
): Promise<StrongerSetting[]> {
  // Loaded for this alone: they bring the editors of JSON, TOML and YAML.
  const { configurableClients } = await import('../connect/client-files.ts');
  const { findFile } = await import('../connect/plan-client-files.ts');
  const { strongerSettings, surroundings } = await import('../connect/stronger-settings.ts');
  const home = homeOf(env);
  const isKeyKept = keyVariable === null;
  const { secret } = isKeyKept ? await control.execute({ type: 'key.reveal', id: key.id }) : {};
  const sought = { origin: withoutVersion(await connectionUrl(control)), model, isKeyKept, secret };
  const found = await strongerSettings(client, surroundings(env, home, process.cwd()), sought);
  const own = configurableClients.find(({ id }) => id === client)?.files ?? [];
  const moved = own
    .filter(({ isOnlyCleared }) => !isOnlyCleared)
    .map(async (file) => {
      const { shown } = await findFile(home, env, file);
      const isWritten = files.some(({ path }) => path === shown);
      return isWritten || !file.variable ? [] : [{ place: null, setting: file.variable.name }];
    });
  return [...(await Promise.all(moved)).flat(), ...found];
}

async function undo(context: VerbContext, guide: ClientGuide, flags: ConnectFlags): Promise<void> {
  const { control, output } = context;
  const preview = await control.query({ type: 'connect-undo-preview', client: guide.id });
  await agree(context, preview, flags);
  await control.execute({ type: 'connect.undo', client: guide.id, fingerprint: preview.fingerprint });
  output.show(preview, `The change for ${guide.name} is undone.`);
}

async function agree(
  { output, terminal }: VerbContext,
  { client, files, overruled, place, keyFile }: ConnectPreview,
  { yes }: ConnectFlags,
): Promise<void> {
  if (place !== (await placeOf(homeOf(terminal.env)))) throw elsewhere(client);
  for (const { path, diff } of files) output.note(diff === '' ? `${path} stays as it is.` : diff.trimEnd());
  if (keyFile !== null) output.note(`${nameOfClient(client)} reads the key from ${keyFile}, which only you can read.`);
  if (overruled.length > 0) {
    output.note(`${nameOfClient(client)} would prefer ${listed(overruled)}, so the change takes that out.`);
  }
  if (!yes && !(await askYesNo('Write this?', terminal))) throw new CliError('Nothing was changed.');
}

function nameOfClient(client: string): string {
  return clientGuides.find(({ id }) => id === client)?.name ?? client;
}

/** Another user's Sluice, or one in a container or at a team's address, would change files that nobody meant. */
function elsewhere(client: string): CliError {
  return new CliError(
    'The running Sluice has another home folder than you, or runs on another machine or in a container: it would change the files there. ' +
      `Nothing was changed. Run this command there, or put the settings into your own files by hand: "sluice connect ${client}" prints the steps.`,
  );
}

async function connectionUrl(control: Control): Promise<Connection['baseUrl']> {
  return baseUrlOf(await control.query({ type: 'status' }));
}

interface TestCall {
  /** The origin at which the running Sluice listens. */
  origin: string;
  secret: string;
  model: string;
}

/** Makes one short call to the model, and returns the result as one line of text. */
async function askModel({ origin, secret, model }: TestCall): Promise<string> {
  const startedAt = performance.now();
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Reply with the word OK.' }] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  try {
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const outgoing = request(
        `${origin}/v1/chat/completions`,
        { method: 'POST', headers, agent: false },
        (response) => {
          text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    if (status === 200) return `Test call: ${model} answered in ${Math.round(performance.now() - startedAt)} ms.`;
    return `Test call: ${model} failed with ${status}: ${messageIn(answer)}`;
  } catch (error) {
    return `Test call: ${error instanceof Error ? error.message : 'no answer'}`;
  }
}

function messageIn(answer: string): string {
  try {
    const { error } = JSON.parse(answer) as { error?: { message?: string } };
    return error?.message ?? answer.slice(0, 500);
  } catch {
    return answer.slice(0, 500);
  }
}
