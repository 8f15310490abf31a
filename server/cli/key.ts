import { type Command, Option } from 'commander';
import type { KeyView } from '../contract/access-views.ts';
import { controlError } from '../contract/control-error.ts';
import { personId } from '../contract/people.ts';
import { type Shell, shells } from '../contract/shell-words.ts';
import { aliasTable } from './alias.ts';
import { describeCassette } from './cassette-choice.ts';
import type { Control } from './control.ts';
import { clientOrigin } from './env.ts';
import type { Examples } from './examples.ts';
import { addKeyChanges, keyChangeExamples, modelsChoice, modelsHelp } from './key-changes.ts';
import { collectLimits, type LimitsChoice, limitCells, limitColumns, limitHelp } from './limit-option.ts';
import { yesNo } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { shellLines, toolEnvironment } from './programs/tool-environment.ts';
import { findPerson, isAdmin, usualGroup } from './role.ts';
import { type Cell, localTime, moment, optional, styled, table } from './shown.ts';
import { type Expiry, expiryDate, expiryHelp, parseExpiry } from './time-options.ts';
import { collectList, type Verbs } from './verb.ts';

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
    const ownerId = owner === undefined ? null : await personIdOf(control, owner);
    const all = await control.query({ type: 'keys' });
    const keys = ownerId === null ? all : all.filter((each) => each.owner === ownerId);
    const none = ownerId === null ? 'There are no keys. Make one with "sluice key create".' : 'They have no keys.';
    output.show(keys, table(listColumns, keys.map(row), none));
  });

  const show = key.command('show').argument('<id>').description('show a key, its limits and their usage');
  on(show, async ({ control, output }, [id = '']) => {
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
