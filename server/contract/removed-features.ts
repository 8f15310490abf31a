/**
 * What earlier versions had and this one has not, an entry for each feature. Files that still name it load without it, which is told
 * once; commands and calls that still ask for it are answered with what to use instead.
 */
import { isObject } from './is-object.ts';

export interface RemovedFeature {
  /** Within a sentence: `Sluice has no … any more`. */
  name: string;
  /** What to use instead, as the rest of that sentence. */
  instead: string;
  /**
   * Its fields in configurations and team presets, with `*` for each entry of a list, and the value with which each of them
   * asked for nothing.
   */
  fields?: Readonly<Record<string, unknown>>;
  /** Of the command line: a command, one of its options, or a value of that option (`log --export dataset`). */
  words?: readonly string[];
  /** Types of control commands and queries, and paths of control routes. */
  calls?: readonly string[];
}

export const removedFeatures: readonly RemovedFeature[] = [
  {
    name: 'guard against repeated prompts',
    instead: 'to stop a run that costs too much, set settings.sessionBudget',
    fields: { 'settings.runawayGuard': true },
  },
  {
    name: 'export of datasets for fine-tuning',
    instead:
      'to keep whole conversations as JSON, record a cassette: sluice group put GROUP --cassette FOLDER --cassette-mode record',
    words: ['log --export dataset'],
    calls: ['dataset', '/control/dataset.jsonl'],
  },
  {
    name: 'import of HTTP Archives',
    instead: 'to make a cassette, record the program itself: sluice record --cassette FOLDER -- COMMAND',
    words: ['cassette import'],
  },
  {
    name: 'manual page',
    instead: 'sluice COMMAND --help shows its text',
    words: ['manual'],
  },
  {
    name: 'shadow requests',
    instead:
      'to try another model, capture requests and compare it on them ("sluice compare", or "Compare models…" in the window)',
    fields: { 'groups.*.shadow': null },
    words: ['shadow', 'group put --shadow'],
    calls: ['shadows'],
  },
];

/** Says that a feature is gone, in one sentence. */
function sayGone({ name, instead }: RemovedFeature): string {
  return `Sluice has no ${name} any more: ${instead}.`;
}

/** What to answer to a control command or query, or on a control route, that is no more; null for any other. */
export function goneCall(call: unknown, features = removedFeatures): string | null {
  const feature = features.find(({ calls = [] }) => calls.some((each) => each === call));
  return feature ? sayGone(feature) : null;
}

/** The paths of control routes that are no more. */
export const goneRoutes: readonly string[] = removedFeatures.flatMap(({ calls = [] }) =>
  calls.filter((call) => call.startsWith('/')),
);

/** What to answer to a command line that names a command, an option or a value that is no more; null for any other. */
export function goneWords(given: readonly string[], features = removedFeatures): string | null {
  const end = given.indexOf('--');
  const own = end === -1 ? given : given.slice(0, end);
  const feature = features.find(({ words = [] }) => words.some((each) => asksFor(own, each.split(' '))));
  return feature ? sayGone(feature) : null;
}

function asksFor(given: readonly string[], words: readonly string[]): boolean {
  const at = words.findIndex((word) => word.startsWith('-'));
  const verb = at === -1 ? words : words.slice(0, at);
  if (!verb.every((word, index) => given[index] === word)) return false;
  const [option, value] = at === -1 ? [] : words.slice(at);
  if (option === undefined) return true;
  return given.some((word, index) => {
    const isJoined = word.startsWith(`${option}=`);
    if (value === undefined) return word === option || isJoined;
    return isJoined ? word === `${option}=${value}` : word === option && given[index + 1] === value;
  });
}

interface WithoutRemoved {
  /** The same object if nothing was removed. */
  value: unknown;
  /** What asked for something, one entry for each field: where it stood, and the feature. */
  uses: RemovedUse[];
}

interface RemovedUse {
  /** For example `groups.default.shadow`. */
  places: string[];
  feature: RemovedFeature;
}

/** A configuration or team preset, also as the setting `joinPreset` of one, without the fields of removed features. */
export function withoutRemovedFields(written: unknown, features = removedFeatures): WithoutRemoved {
  const fields = features.flatMap((feature) => {
    const entries = Object.entries(feature.fields ?? {});
    return entries.map(([field, unused]) => ({ feature, unused: JSON.stringify(unused), path: field.split('.') }));
  });
  const uses: RemovedUse[] = [];
  let value = written;
  for (const { feature, unused, path } of fields) {
    const places: string[] = [];
    const note = (place: string, removed: unknown) => {
      if (JSON.stringify(removed) !== unused) places.push(place);
    };
    value = without(value, path, note);
    value = without(value, ['settings', 'joinPreset', ...path], note);
    if (places.length > 0) uses.push({ places, feature });
  }
  return { value, uses };
}

type Note = (place: string, removed: unknown) => void;

function without(value: unknown, path: readonly string[], note: Note, prefix = ''): unknown {
  const [name = '', ...rest] = path;
  if (name === '*') {
    if (!Array.isArray(value)) return value;
    const entries = value.map((entry: unknown, index) =>
      without(entry, rest, note, `${prefix}${labelOf(entry, index)}.`),
    );
    return entries.some((entry, index) => entry !== value[index]) ? entries : value;
  }
  if (!isObject(value) || !(name in value)) return value;
  const { [name]: member, ...others } = value;
  if (rest.length === 0) {
    note(prefix + name, member);
    return others;
  }
  const kept = without(member, rest, note, `${prefix}${name}.`);
  return kept === member ? value : { ...value, [name]: kept };
}

function labelOf(entry: unknown, index: number): string {
  const label = isObject(entry) ? (entry.id ?? entry.name) : undefined;
  return typeof label === 'string' ? label : String(index);
}

const placesNamed = 3;

/**
 * One sentence for each field: what it was, that it has no effect any more, and what to use instead.
 *
 * @param source where the configuration or preset comes from, such as its path
 */
export function describeRemovedFields(written: unknown, source: string): string[] {
  return withoutRemovedFields(written).uses.map(({ places, feature: { name, instead } }) => {
    const more = places.length > placesNamed ? ` (and ${places.length - placesNamed} more)` : '';
    const named = `${places.slice(0, placesNamed).join(', ')}${more}`;
    return `${named} in ${source} has no effect any more, because Sluice has no ${name} now: ${instead}.`;
  });
}

/** The members of control commands and queries that hold parts of a configuration, and where these stand in one. */
const partsOfCommands = { provider: 'providers', alias: 'aliases', group: 'groups', changes: 'settings' } as const;

/** A control command or query without the fields that asked for nothing, as an earlier version of the command line sends them. */
export function withoutUnusedFields(input: unknown): { input: unknown; gone: string | null } {
  if (!isObject(input)) return { input, gone: null };
  const kept = { ...input };
  for (const [member, part] of Object.entries(partsOfCommands)) {
    if (!isObject(input[member])) continue;
    const isList = part !== 'settings';
    const { value, uses } = withoutRemovedFields({ [part]: isList ? [input[member]] : input[member] });
    if (uses[0]) return { input, gone: sayGone(uses[0].feature) };
    const stripped = isObject(value) ? value[part] : undefined;
    kept[member] = isList && Array.isArray(stripped) ? stripped[0] : stripped;
  }
  return { input: kept, gone: null };
}

/** The current version of the format; older files are migrated when read. */
export const configVersion = 2;

type Stored = Record<string, unknown>;

/** Converts a stored configuration to the next version; `migrateConfig` sets `version` itself. */
type Migration = (stored: Stored) => Stored;

/** Migrations by the version from which they start. A change of the format adds one and raises `configVersion`. */
export const configMigrations: Readonly<Record<number, Migration>> = {
  // Version 2 has fewer fields. They are dropped at every version, since a person may have written the number alone.
  1: (stored) => stored,
};

type MigrationResult = { kind: 'ready'; value: unknown } | { kind: 'too-new'; version: number };

/**
 * Migrates a stored value to the current version, without the fields of removed features. A value without a known
 * version keeps what it says; the schema refuses it.
 */
export function migrateConfig(
  value: unknown,
  steps = configMigrations,
  newest: number = configVersion,
): MigrationResult {
  const version = versionOf(value);
  if (version === undefined) return { kind: 'ready', value };
  if (version > newest) return { kind: 'too-new', version };
  let stored = value as Stored;
  for (let from = version; from < newest; from++) {
    const step = steps[from];
    if (!step) break;
    stored = { ...step(stored), version: from + 1 };
  }
  return { kind: 'ready', value: withoutRemovedFields(stored).value };
}

function versionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('version' in value)) return undefined;
  return Number.isInteger(value.version) ? (value.version as number) : undefined;
}
