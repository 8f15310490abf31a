/** `sluice settings`: all settings by dotted name, and separate verbs for the two that are switched often. */
import type { Command } from 'commander';
import type { SettingsChanges } from '../contract/commands.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import { peopleSchema } from '../contract/people.ts';
import { type Settings, settingsSchema } from '../contract/settings.ts';
import {
  type SettingPath,
  settingEntry,
  settingPaths,
  settingSections,
  valueOfSetting,
  withSetting,
} from '../contract/settings-table.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { table } from './shown.ts';
import type { Verbs } from './verb.ts';
import { didYouMean } from './wrong-usage.ts';

export const settingsExamples: Examples = {
  'settings get': ['sluice settings get', 'sluice settings get admission.running'],
  'settings set': [
    'sluice settings set ledger.retentionDays 30',
    `sluice settings set allowedOrigins '["https://app.example"]'`,
    `sluice settings set prices '{ "my-model": { "input": 1.5, "output": 6 } }'`,
  ],
  'demo on': ['sluice demo on', 'sluice demo on --data-dir ./data'],
  'demo off': ['sluice demo off', 'sluice demo off --data-dir ./data'],
  'demo auto': ['sluice demo auto', 'sluice demo auto --data-dir ./data'],
};

export function addSettingsVerbs(program: Command, verbs: Verbs): void {
  const settings = program.command('settings').description('show and change settings');
  addGet(settings, verbs);
  addSet(settings, verbs);
  addDemo(program, verbs);
}

function addGet(settings: Command, { on }: Verbs): void {
  const get = settings.command('get').argument('[name]', 'one setting').description('show settings');
  on(get, async ({ control, output }, [name]) => {
    const { settings: present } = await control.query({ type: 'status' });
    if (name === undefined) {
      const rows = settingPaths.map((path) => [path, JSON.stringify(valueOfSetting(present, path))]);
      output.show(present, table(['setting', 'value'], rows, ''));
      return;
    }
    const value = valueAt(present, find(name));
    output.show(value, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  });
}

function addSet(settings: Command, { on }: Verbs): void {
  const set = settings
    .command('set')
    .argument('<name>', 'as "settings get" shows it')
    .argument('<value>', 'JSON, or plain text')
    .description('change one setting');
  on(set, async ({ control, output }, [name = '', text = '']) => {
    const found = find(name);
    const { settings: before } = await control.query({ type: 'status' });
    const changes = changesFor(before, found, parseValue(name, text));
    const { revision } = await control.execute({ type: 'settings.update', changes }).catch((error: unknown) => {
      throw wrongValue(error, text);
    });
    const { settings: after } = await control.query({ type: 'status' });
    const value = valueAt(after, found);
    const needsRestart = 'path' in found && settingEntry(found.path).needsRestart;
    const note = needsRestart ? ' It takes effect at the next start.' : '';
    output.show({ name, value, revision }, `${name} is ${JSON.stringify(value)}.${note}`);
  });
}

/** A value that no gateway would take is a mistake in the arguments. */
function wrongValue(error: unknown, given: string): unknown {
  if (!(error instanceof GatewayError && (error.code === 'invalid_command' || error.code === 'invalid_value')))
    return error;
  const said = schemaWords.reduce((text, [pattern, words]) => text.replace(pattern, words), error.message);
  return new CliError(said.replace(/\.$/, `, not ${JSON.stringify(given)}.`), exitCodes.usage);
}

/** What the schema says, in the words of the command line. */
const schemaWords: readonly [RegExp, string][] = [
  [/Invalid input: expected (\w+), received \w+/g, 'it takes a $1'],
  [/Too small: expected \w+ to be >(\S+?)(?=[.;])/g, 'it takes more than $1'],
  [/Too small: expected \w+ to be >=(\S+?)(?=[.;])/g, 'it takes $1 at least'],
  [/Too big: expected \w+ to be <=?(\S+?)(?=[.;])/g, 'it takes $1 at most'],
  [/Invalid option: expected one of ([^.;]+)/g, 'it takes one of $1'],
];

function addDemo(program: Command, { on }: Verbs): void {
  const demo = program.command('demo').description('switch the built-in demo provider');
  const choices = [
    { verb: 'on', says: 'The demo is on.', description: 'always offer it' },
    { verb: 'off', says: 'The demo is off.', description: 'never offer it' },
    { verb: 'auto', says: 'The demo is on until there is a provider.', description: 'until there is a provider' },
  ] as const;
  for (const { verb, says, description } of choices) {
    on(demo.command(verb).description(description), async ({ control, output }) => {
      output.show(await control.execute({ type: 'settings.update', changes: { demo: verb } }), says);
    });
  }
}

/** A setting, a member of one, or a whole section such as `ledger`. */
type SettingName = { path: SettingPath; member?: string } | { section: keyof Settings };

const sections = settingsSchema.keyof().options;

/** Settings with a single value that has members of its own. */
const memberNames: Partial<Record<SettingPath, readonly string[]>> = { people: peopleSchema.keyof().options };

function find(name: string): SettingName {
  const path = settingPaths.find((each) => each === name);
  if (path) return { path };
  const section = sections.find((each) => each === name);
  if (section && settingSections.has(section)) return { section };
  for (const each of settingPaths) {
    const member = memberNames[each]?.find((inner) => `${each}.${inner}` === name);
    if (member) return { path: each, member };
  }
  const meant = settingPaths.find((each) => each.toLowerCase().endsWith(`.${name.toLowerCase()}`));
  const nearest = meant ? ` Did you mean "${meant}"?` : didYouMean(name, [...settingPaths, ...sections]);
  throw new CliError(
    `There is no setting "${name}".${nearest || ' "sluice settings get" shows all.'}`,
    exitCodes.usage,
  );
}

function valueAt(settings: Settings, name: SettingName): unknown {
  if ('section' in name) return settings[name.section];
  const value = valueOfSetting(settings, name.path);
  if (name.member === undefined) return value;
  return isObject(value) ? value[name.member] : null;
}

/** The value is validated with the configuration, whose error names the setting. The rest of its section stays. */
function changesFor(before: Settings, name: SettingName, value: unknown): SettingsChanges {
  if ('section' in name) return { [name.section]: value };
  if (name.member === undefined) return withSetting({}, name.path, value);
  const present = valueOfSetting(before, name.path);
  return withSetting({}, name.path, { ...(isObject(present) && present), [name.member]: value });
}

function parseValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/^\s*[[{]/.test(text)) throw new CliError(`${name}: the value is not valid JSON.`, exitCodes.usage);
    return text;
  }
}
