/**
 * What the engine, the window, the command line, team presets and the reference (docs/configuration-reference.md) know of
 * each setting besides its schema. A setting without an entry does not compile. Does not import zod, because the window
 * imports it: bounds are in `setting-shapes.ts`, which is generated from the schema.
 *
 * The command line has no column: `sluice settings set` takes every setting, by the path that is its key here.
 */

import { parseBypass, parseHostRule, parseOriginRule } from './host-rule.ts';
import { isObject } from './is-object.ts';
import type { Settings } from './settings.ts';

type IsSection<Value> = Value extends readonly unknown[]
  ? false
  : Value extends object
    ? string extends keyof Value
      ? false
      : true
    : false;

type PathsUnder<Name extends string, Value> =
  true extends IsSection<Value> ? (null extends Value ? Name : `${Name}.${keyof Value & string}`) : Name;

/** Such as `port` and `ledger.retentionDays`: what can be set and locked by itself. */
export type SettingPath = { [Name in keyof Settings & string]: PathsUnder<Name, Settings[Name]> }[keyof Settings &
  string];

type ValueAt<Path> = Path extends `${infer Section extends keyof Settings & string}.${infer Inner}`
  ? Inner extends keyof Settings[Section]
    ? Settings[Section][Inner]
    : never
  : Path extends keyof Settings
    ? Settings[Path]
    : never;

/** What a number counts, as it is stored. `number`: nothing that has a name. */
export type SettingUnit = 'milliseconds' | 'hours' | 'days' | 'bytes' | 'requests' | 'usd' | 'number';

/**
 * Who may hand a setting out. `importable`: anyone, because it grants neither access nor trust. `managed`: only an
 * administrator, in a preset that is built into the installer or installed by policy. `own-machine`: like `managed`, but it
 * describes one machine, so it is not for others.
 */
type PresetRule = 'importable' | 'managed' | 'own-machine';

/** The sections of the window's settings that are forms of fields. */
export const settingsParts = ['address', 'network', 'access', 'serving', 'records', 'observability'] as const;
export type SettingsPart = (typeof settingsParts)[number];

export interface SettingEntry {
  preset: PresetRule;
  /** It takes effect at the next start; everything else does at once. */
  needsRestart?: true;
  /** `advanced`: most people never need it. */
  level: 'basic' | 'advanced';
  /** Where the window sets it, or why it does not. */
  window: SettingsPart | 'prices' | { notBecause: string };
  /** Of numbers. */
  unit?: SettingUnit;
}

type EntryOf<Value> =
  NonNullable<Value> extends number ? SettingEntry & { unit: SettingUnit } : SettingEntry & { unit?: never };

type Table = { readonly [Path in SettingPath]: EntryOf<ValueAt<Path>> };

/** In the order of the window and the reference. */
const table = {
  port: { preset: 'own-machine', needsRestart: true, level: 'basic', window: 'address', unit: 'number' },
  host: { preset: 'own-machine', needsRestart: true, level: 'basic', window: 'address' },
  noProxy: { preset: 'managed', level: 'basic', window: 'network' },
  extraCaFiles: { preset: 'own-machine', needsRestart: true, level: 'basic', window: 'network' },
  systemCa: { preset: 'managed', needsRestart: true, level: 'advanced', window: 'network' },
  allowedHosts: { preset: 'managed', level: 'basic', window: 'access' },
  allowedOrigins: { preset: 'managed', level: 'basic', window: 'access' },
  demo: { preset: 'importable', level: 'basic', window: 'serving' },
  replyHeaders: { preset: 'importable', level: 'advanced', window: 'serving' },
  keepAliveCommentMs: { preset: 'importable', level: 'advanced', window: 'serving', unit: 'milliseconds' },
  'limits.jsonBodyBytes': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'bytes' },
  'limits.multipartBodyBytes': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'bytes' },
  'admission.running': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'requests' },
  'admission.waiting': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'requests' },
  'admission.waitMs': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'milliseconds' },
  'admission.bytes': { preset: 'importable', level: 'advanced', window: 'serving', unit: 'bytes' },
  'sharedCounts.hardBudgets': { preset: 'managed', level: 'advanced', window: 'serving' },
  'ledger.retentionDays': { preset: 'importable', level: 'basic', window: 'records', unit: 'days' },
  'ledger.retentionRows': { preset: 'importable', level: 'advanced', window: 'records', unit: 'requests' },
  sessions: { preset: 'importable', level: 'basic', window: 'records' },
  'sessionBudget.notifyAtUsd': { preset: 'importable', level: 'basic', window: 'records', unit: 'usd' },
  'sessionBudget.stopAtUsd': { preset: 'importable', level: 'basic', window: 'records', unit: 'usd' },
  'capture.maxBytes': { preset: 'importable', level: 'advanced', window: 'records', unit: 'bytes' },
  'capture.totalBytes': { preset: 'importable', level: 'advanced', window: 'records', unit: 'bytes' },
  'capture.retentionDays': { preset: 'importable', level: 'basic', window: 'records', unit: 'days' },
  'capture.recent': {
    preset: 'own-machine',
    level: 'basic',
    window: { notBecause: 'the first steps ask for it, and a line beside what is kept switches it off' },
  },
  guide: { preset: 'own-machine', level: 'basic', window: { notBecause: 'the first steps are ended where they are' } },
  'keptResponses.retentionHours': { preset: 'importable', level: 'advanced', window: 'records', unit: 'hours' },
  'keptResponses.bytesPerGroup': { preset: 'importable', level: 'advanced', window: 'records', unit: 'bytes' },
  'jobs.retentionDays': { preset: 'importable', level: 'advanced', window: 'records', unit: 'days' },
  prices: { preset: 'importable', level: 'basic', window: 'prices' },
  renewPrices: { preset: 'importable', level: 'basic', window: 'prices' },
  currency: { preset: 'importable', level: 'basic', window: 'prices' },
  metrics: { preset: 'managed', level: 'advanced', window: 'observability' },
  metricsToken: { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.endpoint': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.headers': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.traces': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.metrics': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.audit': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.conventions': { preset: 'managed', level: 'advanced', window: 'observability' },
  'telemetry.protocol': { preset: 'managed', level: 'advanced', window: 'observability' },
  webhooks: { preset: 'managed', level: 'advanced', window: 'observability' },
  people: {
    preset: 'own-machine',
    level: 'advanced',
    window: { notBecause: 'a mistake in it would lock out the person at the window; it belongs to the deployment' },
  },
  joinPreset: {
    preset: 'own-machine',
    level: 'advanced',
    window: { notBecause: 'it is a whole file, which is written and checked elsewhere' },
  },
} as const satisfies Table;

/** The settings that are fields of the window's forms. */
export type FieldPath = {
  [Path in SettingPath]: (typeof table)[Path]['window'] extends SettingsPart ? Path : never;
}[SettingPath];

export const settingPaths = Object.keys(table) as SettingPath[];

export function settingEntry(path: SettingPath): SettingEntry {
  return table[path];
}

/** The fields of one of the window's forms, in order. */
export function fieldPathsIn(part: SettingsPart): FieldPath[] {
  return settingPaths.filter((path): path is FieldPath => table[path].window === part);
}

export function isImportable(path: SettingPath): boolean {
  return table[path].preset === 'importable';
}

/** The top-level names whose value is an object of several settings, such as `ledger`. */
export const settingSections: ReadonlySet<string> = new Set(
  settingPaths.filter((path) => path.includes('.')).map((path) => placeOf(path).section),
);

/** Undefined if the settings say nothing of it. */
export function valueOfSetting(settings: object, path: SettingPath): unknown {
  const { section, inner } = placeOf(path);
  const value: unknown = Reflect.get(settings, section);
  if (inner === undefined) return value;
  return isObject(value) ? value[inner] : undefined;
}

/** The settings with one more value, in its section. */
export function withSetting(settings: object, path: SettingPath, value: unknown): object {
  const { section, inner } = placeOf(path);
  const present: unknown = Reflect.get(settings, section);
  return {
    ...settings,
    [section]: inner === undefined ? value : { ...(isObject(present) && present), [inner]: value },
  };
}

function placeOf(path: string): { section: string; inner: string | undefined } {
  const [section = '', inner] = path.split('.');
  return { section, inner };
}

/** Per setting: whether an entry can be used. */
export const entryChecks = {
  /** As in the header Host, without the port. */
  allowedHosts: (entry: string) => parseHostRule(entry, { subdomains: false }) !== null,
  allowedOrigins: (entry: string) => parseOriginRule(entry) !== null,
  /** An entry may be several with commas, as in NO_PROXY. */
  noProxy: (entry: string) => entry.split(',').every((each) => parseBypass(each) !== null),
};

const advice: Record<keyof typeof entryChecks, string> = {
  allowedHosts: 'is not a host name; leave out the scheme and the port',
  allowedOrigins:
    'is not an origin of one site; write it as browsers do, such as https://app.example, http://localhost:* or chrome-extension://*',
  noProxy: 'is not a host; use a name, an IP address, a range such as 10.0.0.0/8 or a pattern such as 10.*',
};

const names = ['allowedHosts', 'allowedOrigins', 'noProxy'] as const;

type Entries = Partial<Record<keyof typeof entryChecks, readonly string[] | undefined>>;

/**
 * Checks entries of list settings when they are entered, by the rules that apply them. The schema does not check them:
 * existing configurations must keep working, and `unusableEntries` finds theirs.
 *
 * A message that names the first unusable entry and what to write instead; null if all can be used.
 */
export function unusableEntry(entries: Entries): string | null {
  return unusableEntries(entries)[0] ?? null;
}

/** A message for each entry that has no effect. */
export function unusableEntries(entries: Entries): string[] {
  return names.flatMap((name) =>
    (entries[name] ?? [])
      .filter((entry) => !entryChecks[name](entry))
      .map((entry) => `${name}: "${entry}" ${advice[name]}`),
  );
}
