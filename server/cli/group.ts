import { type Command, InvalidArgumentError, Option } from 'commander';
import type { GroupPreviewView, GroupView, RefusedDefault } from '../contract/access-views.ts';
import type { GroupConfig } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { type Capability, capabilities } from '../contract/operations.ts';
import { type Policy, policySchema } from '../contract/policy.ts';
import { megabyte } from '../contract/units.ts';
import { addCassetteOptions, type CassetteFlags, cassetteChoice, describeCassette } from './cassette-choice.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { collectLimits, type LimitsChoice, limitCells, limitColumns, limitHelp } from './limit-option.ts';
import { showCurrency } from './money.ts';
import { isAdmin } from './role.ts';
import { fact, number, optional, type Shown, table } from './shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './terminal.ts';
import { collectList, type Verbs } from './verb.ts';
import { mustExist } from './wrong-usage.ts';

interface PutOptions extends CassetteFlags {
  name?: string;
  models?: string[];
  deny?: string[];
  providers?: string[];
  order?: GroupConfig['order'];
  default?: Partial<Record<Capability, string>>;
  capture?: boolean;
  captureOnRequest?: boolean;
  policy?: PolicyChoice;
  limit?: LimitsChoice;
  unpriced?: GroupConfig['unpriced'];
  passthrough?: string;
  deleteUnknown?: GroupConfig['deleteUnknown'];
  cache?: CacheChoice;
}

export const groupExamples: Examples = {
  'group list': ['sluice group list', 'sluice group list --json'],
  'group show': ['sluice group show writing', 'sluice group show default --json'],
  'group put': [
    "sluice group put writing --models 'gpt-*' --deny 'gpt-5-pro*' --limit usd=50/month",
    'sluice group put default --policy strategy=lowest-latency,retries=1,timeouts.firstByteMs=30000',
    'sluice group put default --order openai=0 --order groq=1',
    'sluice group put tests --cache ttl=1d,coalesce',
    'sluice group put tests --cassette cassettes --cassette-mode replay',
  ],
  'group remove': ['sluice group remove writing', 'sluice group remove writing --yes'],
};

export function addGroupVerbs(program: Command, verbs: Verbs): void {
  const group = program.command('group').description('manage groups: the models and providers that their keys may use');
  addListAndShow(group, verbs);
  addPut(group, verbs);
  addRemove(group, verbs);
}

function addListAndShow(group: Command, { on }: Verbs): void {
  on(group.command('list').description('list the groups'), async ({ control, output }) => {
    await showCurrency(control);
    const groups = await control.query({ type: 'groups' });
    const rows = groups.map((each) => [
      each.id,
      each.name ?? '',
      String(each.keyCount),
      each.models.join(', ') + (each.deny.length > 0 ? `, but not ${each.deny.join(', ')}` : ''),
      each.providers.join(', '),
    ]);
    output.show(
      groups,
      table(['id', 'name', number('keys'), 'models', optional('providers')], rows, 'There are no groups.'),
    );
  });

  const show = group.command('show').argument('<id>').description('show a group and what its keys can use');
  on(show, async ({ control, output }, [id = '']) => {
    await showCurrency(control);
    const found = await findGroup(control, id);
    if (!(await isAdmin(control))) {
      const models = await control.query({ type: 'models', group: id });
      return output.show(found, describeGroup(found, models, null));
    }
    const preview = await control.query({ type: 'group-preview', group: configOf(found) });
    output.show({ ...found, ...preview, models: found.models }, describeGroup(found, preview.models, preview));
  });
}

function addPut(group: Command, { on }: Verbs): void {
  on<PutOptions>(putCommand(group), async ({ control, output }, [id = ''], options) => {
    const groups = await control.query({ type: 'groups' });
    const found = groups.find((each) => each.id === id);
    const before = found ? configOf(found) : { id };
    const { name, models, deny, providers, order, default: defaults, capture, limit: limits, unpriced } = options;
    const { cache, captureOnRequest, deleteUnknown } = options;
    const cassette = cassetteChoice(options, found?.cassette ?? null);
    const switched = { cache: nullIfOff(cache), cassette: nullIfOff(cassette) };
    const changes = {
      name,
      models,
      deny,
      providers,
      order,
      defaults,
      capture,
      captureOnRequest,
      limits,
      unpriced,
      deleteUnknown,
      ...switched,
    };
    const policy = options.policy && {
      policy: withPolicy('policy' in before ? before.policy : undefined, options.policy),
    };
    const definedChanges = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const cleared = { ...(limits === 'none' && { limits: undefined }), ...passthroughOf(options.passthrough) };
    const group = { ...before, ...definedChanges, ...policy, ...cleared };
    const result = await control.execute({ type: 'group.put', group });
    const { refusedDefaults, passthrough } = await control.query({ type: 'group-preview', group });
    for (const name of await noProviders(control, options)) output.note(`There is no provider "${name}" yet.`);
    for (const refused of refusedDefaults) output.note(describeRefusedDefault(refused));
    if ('passthrough' in group && group.passthrough && passthrough === null) {
      output.note(`Provider "${group.passthrough}" gets nothing of it: the group may not use it.`);
    }
    output.show(result, `Group "${id}" is stored.`);
  });
}

function nullIfOff<Choice>(choice: Choice | 'off'): Choice | null {
  return choice === 'off' ? null : choice;
}

/** The provider ids given in the options that do not exist. */
async function noProviders(control: Control, { providers = [], order = [] }: PutOptions): Promise<string[]> {
  const providerIds = [...providers.filter((each) => !each.includes('*')), ...order.map(({ provider }) => provider)];
  if (providerIds.length === 0) return [];
  const knownIds = new Set((await control.query({ type: 'providers' })).map(({ id }) => id));
  return [...new Set(providerIds)].filter((each) => !knownIds.has(each));
}

function addRemove(group: Command, { on }: Verbs): void {
  const remove = withConfirmation(
    group.command('remove').argument('<id>').description('remove a group that has no keys'),
  );
  on<ConfirmOptions>(remove, async ({ control, output, terminal }, [id = ''], options) => {
    await mustExist('group', id, control);
    await confirm(`Remove group "${id}"?`, options, terminal);
    output.show(await control.execute({ type: 'group.remove', id }), `Group "${id}" is removed.`);
  });
}

function putCommand(group: Command): Command {
  const put = group
    .command('put')
    .argument('<id>')
    .description('add a group, or change the given properties of an existing one')
    .option('--name <text>', 'display name')
    .option('--models <patterns>', 'allowed models; "*" matches any characters', collectList)
    .option('--deny <patterns>', 'refused models; overrides --models', collectList)
    .option('--providers <ids>', 'allowed providers; "*" matches any characters', collectList)
    .option('--order <provider=priority[:weight]>', 'lower is asked first; may be repeated', collectOrder)
    .option('--default <capability=model>', 'the model for requests without one; may be repeated', collectDefault)
    .option('--policy <policy>', `retries and timeouts, such as ${policyHelp}, or JSON`, collectPolicy)
    .option('--limit <limits>', `limits of all its keys together, such as ${limitHelp}`, collectLimits)
    .addOption(
      new Option(
        '--unpriced <rule>',
        'whether models of unknown price may be used under a hard budget in dollars',
      ).choices(['refuse', 'allow']),
    )
    .option(
      '--passthrough <provider>',
      'the provider for what Sluice does not serve itself (files, batches …): its id, "none", or "usual" to forget the setting',
    )
    .addOption(
      new Option(
        '--delete-unknown <rule>',
        'whether its keys may delete there what Sluice does not know; as long as the group is alone, if nothing is said',
      ).choices(['alone', 'allow', 'refuse']),
    )
    .option('--cache <settings>', `answer equal requests from memory: on, off, or ${cacheHelp}`, parseCache)
    .option('--capture', 'keep headers and bodies of its requests for some days')
    .option('--no-capture', 'do not keep headers and bodies')
    .option('--capture-on-request', 'let clients have a request captured (default)')
    .option('--no-capture-on-request', 'do not let clients do so');
  return addCassetteOptions(put, 'group');
}

/** `preview`: null for a person who may not see providers. */
function describeGroup(
  group: GroupView,
  models: GroupPreviewView['models'],
  preview: Pick<GroupPreviewView, 'providers' | 'passthrough'> | null,
): Shown {
  const facts: [name: string, value: string | null][] = [
    ['group', `${group.id}${group.name === undefined ? '' : `  ${group.name}`}`],
    ['keys', String(group.keyCount)],
    ['models', group.models.join(', ') + (group.deny.length > 0 ? `, but not ${group.deny.join(', ')}` : '')],
    ['providers', preview && (preview.providers.join(', ') || 'none')],
    ['passthrough', preview && (preview.passthrough ?? 'none')],
    ['strategy', group.policy.strategy],
    ['capture', group.capture ? 'on' : 'off'],
    ['cache', group.cache === null ? 'off' : 'on'],
    ['cassette', describeCassette(group.cassette, 'off')],
  ];
  const limits = table(limitColumns, group.limitUse.map(limitCells), 'It has no limits of its own.');
  const names = models.map(({ id }) => id).join('\n');
  return [
    ...facts.flatMap(([name, value]) => (value === null ? [] : [fact(name, value, 13)])),
    '',
    limits,
    '',
    'Available models:',
    names || 'none',
  ];
}

function passthroughOf(option: string | undefined): Pick<GroupConfig, 'passthrough'> {
  if (option === undefined) return {};
  return { passthrough: option === 'usual' ? undefined : option === 'none' ? null : option };
}

function describeRefusedDefault({ capability, model, code }: RefusedDefault): string {
  const reason =
    code === 'model_not_found'
      ? 'the group does not allow it, or no provider serves it'
      : 'no provider that serves it can be used now';
  return `The default for ${capability}, "${model}", would be refused: ${reason}.`;
}

function collectOrder(text: string, before: GroupConfig['order'] = []): GroupConfig['order'] {
  const [, provider, priority, weight = '1'] = /^([^=]+)=(\d+)(?::(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  if (provider) return [...before, { provider, priority: Number(priority), weight: Number(weight) }];
  throw new InvalidArgumentError('Use provider=priority or provider=priority:weight, such as openai=0:2.');
}

function collectDefault(
  text: string,
  before: Partial<Record<Capability, string>> = {},
): Partial<Record<Capability, string>> {
  const [, name, model] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const capability = capabilities.find((each) => each === name);
  if (capability && model) return { ...before, [capability]: model };
  throw new InvalidArgumentError(`Use capability=model; the capabilities are ${capabilities.join(', ')}.`);
}

/** The given part of a policy; a timeout of null restores the default. */
type PolicyChoice = Partial<Omit<Policy, 'timeouts'>> & {
  timeouts?: { [Phase in keyof Policy['timeouts']]?: number | null };
};

const policyHelp = 'strategy=sticky,retries=1,timeouts.firstByteMs=30000';

/** Parses `name=value,…`, or JSON as in the configuration. Repeatable. */
function collectPolicy(text: string, before: PolicyChoice = {}): PolicyChoice {
  const parsed = text.trimStart().startsWith('{') ? parseJson(text) : parsePairs(text);
  const timeouts = { ...before.timeouts, ...(typeof parsed.timeouts === 'object' ? parsed.timeouts : {}) };
  const all: PolicyChoice = { ...before, ...parsed, ...(Object.keys(timeouts).length > 0 && { timeouts }) };
  const checked = policySchema.safeParse(withPolicy(undefined, all));
  if (checked.success) return all;
  const [issue] = checked.error.issues;
  throw new InvalidArgumentError(`${issue?.path.join('.') || 'policy'}: ${issue?.message}. Use ${policyHelp}.`);
}

/** The previous policy with the given changes. */
function withPolicy(before: Policy | undefined, { timeouts, ...settings }: PolicyChoice): object {
  const limits = Object.entries({ ...before?.timeouts, ...timeouts }).filter(([, value]) => value !== null);
  return { ...before, ...settings, timeouts: Object.fromEntries(limits) };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError(`This is not JSON. Use ${policyHelp}, or JSON as in the configuration.`);
  }
}

function parsePairs(text: string): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  const timeouts: Record<string, unknown> = {};
  for (const pair of text.split(',')) {
    const [, name = '', value = ''] = /^\s*([a-zA-Z.]+)\s*=\s*(.+?)\s*$/.exec(pair) ?? [];
    if (!name) throw new InvalidArgumentError(`"${pair}" is not name=value. Use ${policyHelp}.`);
    const phase = /^timeouts\.(.+)$/.exec(name)?.[1];
    const numberOrText = /^\d+$/.test(value) ? Number(value) : value;
    if (phase) timeouts[phase] = value === 'usual' ? null : numberOrText;
    else settings[name] = numberOrText;
  }
  return { ...settings, ...(Object.keys(timeouts).length > 0 && { timeouts }) };
}

const cacheHelp = 'ttl=1h,size=64,coalesce,forced';

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Settings that are not given have their defaults. */
type CacheChoice = Partial<NonNullable<GroupConfig['cache']>> | 'off';

/**
 * The option `--cache`: `on`, `off`, or settings such as `ttl=1h,size=64` (in MB). Never null, which Commander takes for
 * a missing value.
 * @throws InvalidArgumentError
 */
export function parseCache(text: string): CacheChoice {
  if (text === 'off') return 'off';
  if (text === 'on') return {};
  return Object.assign({}, ...text.split(',').map(settingOf));
}

function settingOf(text: string): Partial<NonNullable<GroupConfig['cache']>> {
  if (text === 'coalesce' || text === 'forced') return { [text]: true };
  const [, count, unit = 's'] = /^ttl=(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (count) return { ttlSeconds: Number(count) * secondsOf[unit as keyof typeof secondsOf] };
  const [, size] = /^size=(\d{1,6})$/.exec(text) ?? [];
  if (size) return { maxBytes: Number(size) * megabyte };
  throw new InvalidArgumentError(`Use "on", "off", or some of ${cacheHelp} (ttl in s, m, h or d; size in MB).`);
}

/** Rejects with `not_found`. */
export async function findGroup(control: Control, id: string): Promise<GroupView> {
  const found = (await control.query({ type: 'groups' })).find((each) => each.id === id);
  if (found) return found;
  throw controlError('not_found', { code: 'no-group', id }, 'group');
}

/** The group's configuration, without the fields that its view adds. */
export function configOf({ keyCount: _keys, limitUse: _use, ...group }: GroupView): GroupConfig {
  return group;
}
