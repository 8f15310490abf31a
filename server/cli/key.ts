import type { Command } from 'commander';
import type { KeyView } from '../contract/access-views.ts';
import { GatewayError } from '../contract/errors.ts';
import { collectLimits, type LimitsChoice, limitCells, limitHelp } from './limit-option.ts';
import { parseFuture } from './moment.ts';
import { localTime, table, yesNo } from './output.ts';
import { collectList, type Verbs } from './verb.ts';

interface CreateOptions {
  name?: string;
  group?: string;
  expires?: number;
  models?: string[];
  limit?: LimitsChoice;
  keep: boolean;
}

export function addKeyVerbs(program: Command, verbs: Verbs): void {
  const key = program.command('key').description('manage the keys of local clients');
  addCreate(key, verbs);
  addListAndShow(key, verbs);
  addChanges(key, verbs);
}

function addCreate(key: Command, { on }: Verbs): void {
  const create = key
    .command('create')
    .argument('[id]', 'its id in the configuration (default: derived from the name)')
    .description('create a key and print its secret')
    .option('--name <text>', 'display name')
    .option('--group <id>', 'the group it belongs to (default: default)')
    .option('--expires <when>', 'a date, or a time span such as 30d', parseFuture)
    .option('--models <patterns>', 'only these of the group’s models; "*" matches any characters', collectList)
    .option('--limit <limits>', `its limits, such as ${limitHelp}`, collectLimits)
    .option('--no-keep', 'do not keep the secret: it is shown only once');
  on<CreateOptions>(create, async ({ control, output }, [id], options) => {
    const { name, group, expires, models, limit, keep } = options;
    const result = await control.execute({
      type: 'key.create',
      keepSecret: keep,
      ...(id && { id }),
      ...(name && { name }),
      ...(group && { group }),
      ...(models && { models }),
      ...(limit && limit !== 'none' && { limits: limit }),
      ...(expires && { expiresAt: new Date(expires).toISOString() }),
    });
    output.show(result, result.secret);
    if (!output.isJson) output.note(`Key "${result.key.id}" of group "${result.key.group}".${againHint(result.key)}`);
  });
}

function addListAndShow(key: Command, { on }: Verbs): void {
  on(key.command('list').description('list the keys'), async ({ control, output }) => {
    const keys = await control.query({ type: 'keys' });
    output.show(keys, table(listHead, keys.map(row), 'There are no keys.'));
  });

  const show = key.command('show').argument('<id>').description('show a key, its limits and their usage');
  on(show, async ({ control, output }, [id = '']) => {
    const found = (await control.query({ type: 'keys' })).find((each) => each.id === id);
    if (!found) throw new GatewayError('not_found', `There is no key "${id}".`, { param: 'id' });
    const facts = table(listHead, [row(found)], '');
    const limits = table(['limit', 'used', 'resets'], found.limitUse.map(limitCells), 'It has no limits of its own.');
    output.show(found, `${facts}\n\n${limits}`);
  });
}

function addChanges(key: Command, { on }: Verbs): void {
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

  const revoke = key.command('revoke').argument('<id>').description('revoke a key permanently');
  on(revoke, async ({ control, output }, [id = '']) => {
    output.show(await control.execute({ type: 'key.revoke', id }), `Key "${id}" is revoked.`);
  });

  const rotate = key
    .command('rotate')
    .argument('<id>')
    .description('give a key a new secret; the old one stops working at once');
  on(rotate, async ({ control, output }, [id = '']) => {
    const result = await control.execute({ type: 'key.rotate', id });
    output.show(result, result.secret);
  });

  const reveal = key.command('reveal').argument('<id>').description('print the secret of a key, if it was kept');
  on(reveal, async ({ control, output }, [id = '']) => {
    const result = await control.execute({ type: 'key.reveal', id });
    output.show(result, result.secret);
  });
}

const listHead = ['id', 'name', 'group', 'enabled', 'expires', 'last used', 'models'];

function againHint({ id, canReveal }: KeyView): string {
  return canReveal ? ` "key reveal ${id}" prints it again.` : ' It is not kept: this is the only time it is shown.';
}

function row(key: KeyView): string[] {
  return [
    key.id,
    key.name ?? '',
    key.group,
    yesNo(key.enabled),
    localTime(key.expiresAt),
    localTime(key.lastUsedAt),
    key.models?.join(', ') ?? 'all of the group',
  ];
}
