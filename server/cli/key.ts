import { type Command, InvalidArgumentError, Option } from 'commander';
import { toolEnvironment } from '../connect/tool-environment.ts';
import type { KeyView } from '../contract/access-views.ts';
import type { CommandInputMap } from '../contract/commands.ts';
import { controlError } from '../contract/control-error.ts';
import { personId } from '../contract/people.ts';
import { type Shell, shells } from '../contract/shell-words.ts';
import { hourMs } from '../contract/units.ts';
import { aliasTable } from './alias.ts';
import { addCassetteOptions, type CassetteFlags, cassetteChoice, describeCassette } from './cassette-choice.ts';
import type { Control } from './control.ts';
import { clientOrigin, shellLines } from './env.ts';
import type { Examples } from './help.ts';
import { collectLimits, type LimitsChoice, limitCells, limitColumns, limitHelp } from './limit-option.ts';
import { showCurrency } from './money.ts';
import { yesNo } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { findPerson, isAdmin, usualGroup } from './role.ts';
import { type Cell, localTime, moment, optional, styled, table } from './shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './terminal.ts';
import { type Expiry, expiryDate, expiryHelp, parseDuration, parseExpiry } from './time-options.ts';
import { collectList, type Verbs } from './verb.ts';
import { mustExist } from './wrong-usage.ts';

interface PutOptions extends CassetteFlags {
  name?: string;
  group?: string;
  expires?: Expiry;
  models?: string[];
  limit?: LimitsChoice;
  faults?: boolean;
}

const maxGraceHours = 168;

const modelsHelp = 'only these of the group’s models ("*" matches any characters); "all" for all of them';

/**
 * The verbs `put`, `enable`, `disable`, `move`, `limit`, `rotate` and `revoke`, which change a key, and `reveal`.
 *
 * Null: all models of the group.
 */
function modelsChoice(models: string[]): string[] | null {
  return models.length === 1 && models[0] === 'all' ? null : models;
}

type KeyChanges = CommandInputMap['key.update']['changes'];

const keyChangeExamples: Examples = {
  'key put': ['sluice key put my-editor --expires never', "sluice key put my-editor --models 'gpt-*'"],
  'key move': ['sluice key move my-editor writing', 'sluice key move my-editor default'],
  'key enable': ['sluice key enable my-editor', 'sluice key enable my-editor --gateway https://gateway.example'],
  'key disable': ['sluice key disable my-editor', 'sluice key disable my-editor --gateway https://gateway.example'],
  'key limit': ['sluice key limit my-editor requests=60 concurrent=4 usd=5/day', 'sluice key limit my-editor none'],
  'key revoke': ['sluice key revoke my-editor', 'sluice key revoke my-editor --yes'],
  'key rotate': ['sluice key rotate my-editor', 'sluice key rotate my-editor --grace 24h'],
  'key reveal': ['sluice key reveal my-editor', 'export OPENAI_API_KEY="$(sluice key reveal my-editor)"'],
};

function addKeyChanges(key: Command, verbs: Verbs): void {
  addPut(key, verbs);
  addSwitches(key, verbs);
  addLimit(key, verbs);
  addSecretVerbs(key, verbs);
}

function addPut(key: Command, { on }: Verbs): void {
  const put = key
    .command('put')
    .argument('<id>')
    .description('change the given properties of a key; its secret stays the same')
    .option('--name <text>', 'display name')
    .option('--group <id>', 'the group it belongs to')
    .option('--expires <when>', expiryHelp, parseExpiry)
    .option('--models <patterns>', modelsHelp, collectList)
    .option('--limit <limits>', `its limits, such as ${limitHelp}`, collectLimits)
    .option('--faults', 'let its requests ask for faults on purpose, by the header x-sluice-fault')
    .option('--no-faults', 'refuse such requests');
  on<PutOptions>(addCassetteOptions(put, 'key'), async ({ control, output }, [id = ''], options) => {
    const before = (await control.query({ type: 'keys' })).find((key) => key.id === id);
    const cassette = cassetteChoice(options, before?.cassette ?? null);
    const changes = { ...changesOf(options), ...(cassette !== undefined && { cassette }) };
    if (Object.keys(changes).length === 0) {
      throw new CliError('Nothing to change was given: see "key put --help".', exitCodes.usage);
    }
    output.show(await control.execute({ type: 'key.update', id, changes }), `Key "${id}" is stored.`);
  });

  const move = key.command('move').argument('<id>').argument('<group>').description('move a key to another group');
  on(move, async ({ control, output }, [id = '', group = '']) => {
    const result = await control.execute({ type: 'key.update', id, changes: { group } });
    output.show(result, `Key "${id}" belongs to group "${group}".`);
  });
}

function addSwitches(key: Command, { on }: Verbs): void {
  const switches = [
    { verb: 'enable', enabled: true, description: 'let a key be used again' },
    { verb: 'disable', enabled: false, description: 'refuse a key until it is enabled again' },
  ];
  for (const { verb, enabled, description } of switches) {
    on(key.command(verb).argument('<id>').description(description), async ({ control, output }, [id = '']) => {
      const result = await control.execute({ type: 'key.update', id, changes: { enabled } });
      output.show(result, `Key "${id}" is ${enabled ? 'enabled' : 'disabled'}.`);
    });
  }
}

function addLimit(key: Command, { on }: Verbs): void {
  const limit = key
    .command('limit')
    .argument('<id>')
    .argument('<limits...>', limitHelp, collectLimits)
    .description('replace the limits of a key');
  on(limit, async ({ control, output }, [id = '', ...items]) => {
    const choice = collectLimits(items.join(','));
    const limits = choice === 'none' ? null : choice;
    const result = await control.execute({ type: 'key.update', id, changes: { limits } });
    output.show(result, limits ? `The limits of key "${id}" are stored.` : `Key "${id}" has no limits of its own.`);
  });
}

function addSecretVerbs(key: Command, { on }: Verbs): void {
  const revoke = withConfirmation(
    key.command('revoke').argument('<id>').description('revoke a key permanently ("disable" can be undone)'),
  );
  on<ConfirmOptions>(revoke, async ({ control, output, terminal }, [id = ''], options) => {
    await mustExist('key', id, control);
    await confirm(`Revoke key "${id}"? Its clients stop working, and it cannot be restored.`, options, terminal);
    output.show(await control.execute({ type: 'key.revoke', id }), `Key "${id}" is revoked.`);
  });

  const rotate = withConfirmation(
    key
      .command('rotate')
      .argument('<id>')
      .description('give a key a new secret')
      .option(
        '--grace <span>',
        'how long the old secret still works: 90m, 24h, 7d (default: it ends at once)',
        parseGrace,
        0,
      ),
  );
  on<ConfirmOptions & { grace: number }>(rotate, async ({ control, output, terminal }, [id = ''], options) => {
    const graceHours = options.grace;
    const end =
      graceHours === 0 ? 'The present one stops working at once.' : 'The present one stops working after that.';
    await mustExist('key', id, control);
    await confirm(`Give key "${id}" a new secret? ${end}`, options, terminal);
    const result = await control.execute({ type: 'key.rotate', id, graceHours });
    output.show(result, result.secret);
  });

  const reveal = key.command('reveal').argument('<id>').description('print the secret of a key, if it was kept');
  on(reveal, async ({ control, output }, [id = '']) => {
    const result = await control.execute({ type: 'key.reveal', id });
    output.show(result, result.secret);
  });
}

function changesOf({ name, group, expires, models, limit, faults }: PutOptions): KeyChanges {
  return {
    ...(name !== undefined && { name: name === '' ? null : name }),
    ...(group !== undefined && { group }),
    ...(expires !== undefined && { expiresAt: expiryDate(expires) }),
    ...(models && { models: modelsChoice(models) }),
    ...(limit && { limits: limit === 'none' ? null : limit }),
    ...(faults !== undefined && { faults }),
  };
}

/** Returns hours. */
function parseGrace(text: string): number {
  const hours = parseDuration(text) / hourMs;
  if (hours <= maxGraceHours) return hours;
  throw new InvalidArgumentError('At most 7d.');
}

interface CreateOptions {
  name?: string;
  group?: string;
  expires?: Expiry;
  models?: string[];
  limit?: LimitsChoice;
  keep: boolean;
  export?: Shell | true;
}

export const keyExamples: Examples = {
  'key create': [
    'sluice key create --name "my editor" --group writing --expires 90d',
    "sluice key create --models 'demo-*' --limit requests=60,usd=5/day",
    'eval "$(sluice key create --export)"',
  ],
  'key list': ['sluice key list', 'sluice key list --owner mia@acme.example', 'sluice key list --json'],
  'key show': ['sluice key show my-editor', 'sluice key show my-editor --json'],
  ...keyChangeExamples,
};

export function addKeyVerbs(program: Command, verbs: Verbs): void {
  const key = program.command('key').description('manage the keys of local clients');
  addCreate(key, verbs);
  addListAndShow(key, verbs);
  addKeyChanges(key, verbs);
}

function addCreate(key: Command, { on }: Verbs): void {
  const create = key
    .command('create')
    .argument('[id]', 'its id in the configuration (default: derived from the name)')
    .description('create a key and print its secret')
    .option('--name <text>', 'display name')
    .option('--group <id>', 'the group it belongs to (default: default, or your only one)')
    .option('--expires <when>', expiryHelp, parseExpiry)
    .option('--models <patterns>', modelsHelp, collectList)
    .option('--limit <limits>', `its limits, such as ${limitHelp}`, collectLimits)
    .option('--no-keep', 'do not keep the secret: it is shown only once')
    .addOption(
      new Option('--export [shell]', 'print commands for a shell that set the variables of clients').choices(shells),
    );
  on<CreateOptions>(create, async ({ control, output, terminal }, [id], options) => {
    const { name, group, expires, models, limit, keep } = options;
    if (id !== undefined && !(await isAdmin(control))) {
      throw new CliError(
        `Your key gets its id from the gateway. Leave out "${id}", and give it a --name.`,
        exitCodes.usage,
      );
    }
    const result = await control.execute({
      type: 'key.create',
      keepSecret: keep,
      ...(id && { id }),
      ...(name && { name }),
      group: group ?? (await usualGroup(control)),
      ...(models && { models: modelsChoice(models) ?? undefined }),
      ...(limit && limit !== 'none' && { limits: limit }),
      ...(expires !== undefined && { expiresAt: expiryDate(expires) ?? undefined }),
    });
    const lines = options.export
      ? await exportLines(result.secret, options.export, { control, env: terminal.env })
      : result.secret;
    output.show(result, lines);
    if (!output.isJson) output.note(`Key "${result.key.id}" of group "${result.key.group}".${againHint(result.key)}`);
  });
}

async function exportLines(
  key: string,
  shell: Shell | true,
  { control, env }: { control: Control; env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const tool = toolEnvironment({ origin: await clientOrigin(control), key }, env);
  return shellLines(tool, shell === true ? 'sh' : shell);
}

function addListAndShow(key: Command, { on }: Verbs): void {
  const list = key
    .command('list')
    .description('list the keys')
    .option('--owner <person>', 'keys of this person: an id, e-mail address or name; "me": your own');
  on<{ owner?: string }>(list, async ({ control, output }, _, { owner }) => {
    await showCurrency(control);
    const ownerId = owner === undefined ? null : await personIdOf(control, owner);
    const all = await control.query({ type: 'keys' });
    const keys = ownerId === null ? all : all.filter((each) => each.owner === ownerId);
    const none = ownerId === null ? 'There are no keys. Make one with "sluice key create".' : 'They have no keys.';
    output.show(keys, table(listColumns, keys.map(row), none));
  });

  const show = key.command('show').argument('<id>').description('show a key, its limits and their usage');
  on(show, async ({ control, output }, [id = '']) => {
    await showCurrency(control);
    const found = (await control.query({ type: 'keys' })).find((each) => each.id === id);
    if (!found) throw controlError('not_found', { code: 'no-key', id }, 'id');
    const facts = table(listColumns, [row(found)], '');
    const limits = table(limitColumns, found.limitUse.map(limitCells), 'It has no limits of its own.');
    const cassette = `Cassette: ${describeCassette(found.cassette, 'as its group')}`;
    const aliases = found.aliases.length > 0 ? ['', aliasTable(found.aliases, '')] : [];
    output.show(found, [facts, '', cassette, '', limits, ...aliases]);
  });
}

/** Only administrators may ask for other people by name. */
async function personIdOf(control: Control, owner: string): Promise<string> {
  if (owner === 'me') {
    const { person } = await control.query({ type: 'who-am-i' });
    if (!person) throw new CliError('Nobody is signed in here, so no key is yours.');
    return person.id;
  }
  return personId.safeParse(owner).success ? owner : (await findPerson(control, owner)).id;
}

const listColumns = [
  'id',
  optional('name'),
  optional('secret'),
  'group',
  optional('owner'),
  'enabled',
  optional('expires'),
  'last used',
  optional('models'),
];

function againHint({ id, canReveal }: KeyView): string {
  return canReveal ? ` "key reveal ${id}" prints it again.` : ' It is not kept: this is the only time it is shown.';
}

function row(key: KeyView): Cell[] {
  return [
    key.id,
    key.name ?? '',
    key.suffix === null ? '' : `…${key.suffix}`,
    key.group,
    key.owner ?? '',
    key.enabled ? yesNo(true) : styled('off', yesNo(false)),
    expiryCell(key.expiresAt),
    moment(key.lastUsedAt),
    key.models?.join(', ') ?? 'all of the group',
  ];
}

function expiryCell(expiresAt: string | null): Cell {
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return isOver ? styled('warning', localTime(expiresAt)) : moment(expiresAt);
}
