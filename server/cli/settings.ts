/** `sluice settings`: all settings by dotted name, and separate verbs for the two that are switched often. */
import type { Command } from 'commander';
import type { SettingsChanges } from '../contract/commands.ts';
import { isObject } from '../contract/is-object.ts';
import { type Settings, settingsSchema } from '../contract/settings.ts';
import type { Examples } from './examples.ts';
import { table } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Verbs } from './verb.ts';

export const settingsExamples: Examples = {
  'settings get': ['sluice settings get', 'sluice settings get admission.running'],
  'settings set': [
    'sluice settings set ledger.retentionDays 30',
    `sluice settings set allowedOrigins '["https://app.example"]'`,
    `sluice settings set prices '{ "my-model": { "input": 1.5, "output": 6 } }'`,
  ],
  'demo on': ['sluice demo on'],
  'demo off': ['sluice demo off'],
  'demo auto': ['sluice demo auto'],
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
      const rows = namedValues(present).map(([each, value]) => [each, JSON.stringify(value)]);
      output.show(present, table(['setting', 'value'], rows, ''));
      return;
    }
    const value = valueAt(present, name);
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
    const { settings: before } = await control.query({ type: 'status' });
    valueAt(before, name);
    const changes = changesFor(before, name, parseValue(name, text));
    const { revision } = await control.execute({ type: 'settings.update', changes });
    const { settings: after } = await control.query({ type: 'status' });
    const value = valueAt(after, name);
    const note = takesRestart.has(name) ? ' It takes effect at the next start.' : '';
    output.show({ name, value, revision }, `${name} is ${JSON.stringify(value)}.${note}`);
  });
}

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

const takesRestart: ReadonlySet<string> = new Set(['host', 'port', 'extraCaFiles', 'systemCa']);
/**
 * Settings with a single object as their value: `prices` is keyed by model names, and `joinPreset` is a team preset.
 */
const wholeValues: ReadonlySet<string> = new Set(['prices', 'joinPreset']);

function namedValues(settings: Settings): [string, unknown][] {
  return Object.entries(settings).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) && !wholeValues.has(name)
      ? Object.entries(value).map(([inner, each]) => [`${name}.${inner}`, each])
      : [[name, value]],
  );
}

function valueAt(settings: Settings, name: string): unknown {
  const sections = Object.entries(settings);
  const found = [...sections, ...namedValues(settings)].find(([each]) => each === name);
  if (found) return found[1];
  const names = Object.keys(settingsSchema.shape).join(', ');
  const meant = namedValues(settings).find(([each]) => each.endsWith(`.${name}`));
  if (meant) throw new CliError(`There is no setting "${name}". Did you mean "${meant[0]}"?`, exitCodes.usage);
  throw new CliError(
    `There is no setting "${name}". The settings are ${names}; "settings get" shows all.`,
    exitCodes.usage,
  );
}

/** The value is validated with the configuration, whose error names the setting. The rest of its section stays. */
function changesFor(before: Settings, name: string, value: unknown): SettingsChanges {
  const [section = '', inner] = name.split('.');
  const present: unknown = Reflect.get(before, section);
  return { [section]: inner === undefined ? value : { ...(isObject(present) ? present : {}), [inner]: value } };
}

function parseValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/^\s*[[{]/.test(text)) throw new CliError(`${name}: the value is not valid JSON.`, exitCodes.usage);
    return text;
  }
}
