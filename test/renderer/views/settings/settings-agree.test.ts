/**
 * Walks every setting: what the schema takes, the command line, the window's field, the import of a preset and its export
 * take as well, and nothing else; and the reference says so.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it, test } from 'vitest';
import { en } from '../../../../renderer/messages/en/en.ts';
import { choicesOf, fieldOf, firstInvalidLine } from '../../../../renderer/views/settings/fields/settings-field.ts';
import { addSettingsVerbs } from '../../../../server/cli/settings.ts';
import { presetFrom } from '../../../../server/cli/transfer.ts';
import type { Verbs } from '../../../../server/cli/verb.ts';
import { firstRunConfig } from '../../../../server/config/config-store.ts';
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import { configSchema } from '../../../../server/contract/config.ts';
import { settingShapes } from '../../../../server/contract/setting-shapes.ts';
import { type Settings, settingsSchema } from '../../../../server/contract/settings.ts';
import {
  entryChecks,
  type FieldPath,
  fieldPathsIn,
  type SettingPath,
  settingEntry,
  settingPaths,
  settingsParts,
  unusableEntries,
  valueOfSetting,
  withSetting,
} from '../../../../server/contract/settings-table.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../../../../server/contract/team-preset.ts';
import { updateSettings } from '../../../../server/control/changes/change-settings.ts';
import { importTeamPreset } from '../../../../server/control/changes/change-team-preset.ts';
import { mergeTeamPreset } from '../../../../server/control/changes/team-presets.ts';
import { checkout } from '../../../support/program.ts';

const about = { name: 'Acme engineering', organisation: 'Acme' };
const people = { issuer: 'https://login.example', clientId: 'sluice', roles: [{ claim: 'ops', role: 'admin' }] };
const webhook = { url: 'https://chat.example/hook', events: ['budget'], secret: 'env:KEY' };

/** Usable values that are not the default. */
const usable: Record<SettingPath, readonly unknown[]> = {
  port: [4_911],
  host: ['0.0.0.0', '::1', 'nas.local'],
  noProxy: [['corp.example', '10.0.0.0/8']],
  extraCaFiles: [['/a/ca.pem']],
  systemCa: [false],
  allowedHosts: [['nas', '*.corp.example']],
  allowedOrigins: [['https://app.example']],
  demo: ['on', 'off'],
  replyHeaders: [false],
  keepAliveCommentMs: [20_000, 1_500],
  'limits.jsonBodyBytes': [1_000, 5_000_000_000],
  'limits.multipartBodyBytes': [1_000_000],
  'admission.running': [7],
  'admission.waiting': [9],
  'admission.waitMs': [50, 7_200_000],
  'admission.bytes': [1_000_000],
  'sharedCounts.hardBudgets': ['open'],
  'ledger.retentionDays': [30, 99_999],
  'ledger.retentionRows': [5_000_000_000],
  sessions: ['all', 'off'],
  'sessionBudget.notifyAtUsd': [0.5],
  'sessionBudget.stopAtUsd': [20],
  'capture.maxBytes': [10_000],
  'capture.totalBytes': [2_000_000],
  'capture.retentionDays': [1],
  'capture.recent': ['on'],
  guide: ['open'],
  'keptResponses.retentionHours': [0.5],
  'keptResponses.bytesPerGroup': [1_000],
  'jobs.retentionDays': [365],
  renewPrices: ['ask', 'apply'],
  currency: [{ code: 'EUR', perDollar: 0.92 }],
  prices: [{ 'my-model': { input: 1.5, output: 6 } }],
  metrics: ['on'],
  metricsToken: ['env:SCRAPE'],
  'telemetry.endpoint': ['http://127.0.0.1:4318'],
  'telemetry.headers': [{ authorization: 'env:OTLP', 'x-version': '4' }],
  'telemetry.traces': [false],
  'telemetry.metrics': [false],
  'telemetry.audit': [true],
  'telemetry.conventions': ['1.41'],
  'telemetry.protocol': ['http/json'],
  webhooks: [[webhook]],
  people: [people],
  joinPreset: [{ teamPreset: 1, ...about }],
};

/** Including both sides of each bound. */
function valuesFor(path: SettingPath): unknown[] {
  const shape = settingShapes[path];
  const bounds = shape.kind === 'number' ? [shape.min, shape.above, shape.max].filter((each) => each !== null) : [];
  const around = bounds.flatMap((bound) => [bound - 1, bound, bound + 1]);
  const numbers = [-1, 0, 0.25, 1, 1.5, 720.5, 2 ** 31, Number.MAX_SAFE_INTEGER, 2 ** 60];
  const others = [null, true, '', 'some text', [], ['some text'], {}, valueOfSetting(defaults, path)];
  return [...new Set([...numbers, ...around]), ...others, ...usable[path]];
}

const defaults = settingsSchema.parse({});
const base = firstRunConfig();
const cases = settingPaths.flatMap((path) => valuesFor(path).map((value): [SettingPath, unknown] => [path, value]));

function isAccepted(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

const isValid = (path: SettingPath, value: unknown) => settingsSchema.safeParse(withSetting({}, path, value)).success;

/** Lists whose entries are checked when they are entered, because stored ones must keep working. */
function isEnterable(path: SettingPath, value: unknown): boolean {
  return !(path in entryChecks && Array.isArray(value)) || unusableEntries({ [path]: value }).length === 0;
}

const presetWith = (settings: object): TeamPreset =>
  writtenTeamPresetSchema.parse({ teamPreset: 1, ...about, settings });

/** `sluice settings` over a configuration in memory. */
async function settingsVerb(...line: string[]): Promise<Settings> {
  let config = base;
  const query = async () => ({ settings: config.settings });
  const execute = async ({ changes }: { changes: SettingsChanges }) => {
    config = updateSettings(config, { type: 'settings.update', changes }, {} as never).config;
    return { revision: 2 };
  };
  const context = { control: { query, execute }, output: { show: () => {}, note: () => {} } } as never;
  const verbs: Verbs = {
    on: (command, action) => command.action(() => action(context, command.args, command.opts())),
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addSettingsVerbs(program, verbs);
  await program.parseAsync(['settings', ...line], { from: 'user' });
  return config.settings;
}

describe('of every setting', () => {
  test.each(settingPaths)('%s, the usable values are usable and are not the default', (path) => {
    for (const value of usable[path]) {
      const { data } = settingsSchema.safeParse(withSetting({}, path, value));
      expect(data && valueOfSetting(data, path)).toBeDefined();
      expect(data && valueOfSetting(data, path)).not.toEqual(valueOfSetting(defaults, path));
    }
  });

  const ofNewFolder = { guide: 'open', capture: { recent: 'unasked' } };

  it('the command line takes what the schema takes, and refuses the rest', async () => {
    for (const [path, value] of cases) {
      const told = { path, value, isValid: isValid(path, value) && isEnterable(path, value) };
      const settings = await settingsVerb('set', '--', path, JSON.stringify(value)).catch(() => null);
      expect({ ...told, isValid: settings !== null }).toEqual(told);
      const stored = settingsSchema.safeParse(withSetting(ofNewFolder, path, value)).data;
      if (settings && stored) expect(settings).toEqual(stored);
      if (settings) await settingsVerb('get', path);
    }
  });

  it('a preset for anyone may hold exactly those that the table calls importable, and an administrator’s all', () => {
    for (const [path, value] of cases) {
      const told = { path, value, isValid: isValid(path, value) };
      const settings = withSetting({}, path, value);
      const managed = isAccepted(() => mergeTeamPreset(base, presetWith(settings), 'everything'));
      expect({ ...told, isValid: managed }).toEqual(told);
      const imported = isAccepted(() => importTeamPreset(base, presetWith(settings), new Set()));
      expect({ path, value, imported }).toEqual({
        ...{ path, value },
        imported: told.isValid && settingEntry(path).preset === 'importable',
      });
    }
  });

  it.each(['imported', 'managed'] as const)('an exported preset can be %s, and tells what it leaves out', (kind) => {
    for (const path of settingPaths) {
      const settings = settingsSchema.parse(withSetting({}, path, usable[path][0]));
      const { preset, leftOut } = presetFrom(configSchema.parse({ ...base, settings }), about, kind);
      const rule = settingEntry(path).preset;
      const isKept = rule === 'importable' || (kind === 'managed' && rule === 'managed');
      expect({ path, leftOut }).toEqual({ path, leftOut: isKept ? [] : [path] });
      const applied =
        kind === 'managed'
          ? mergeTeamPreset(base, preset, 'everything').config
          : importTeamPreset(base, preset, new Set()).config;
      expect(valueOfSetting(applied.settings, path)).toEqual(valueOfSetting(isKept ? settings : base.settings, path));
    }
  });
});

describe('the reference', () => {
  const reference = readFileSync(join(checkout, 'docs/configuration-reference.md'), 'utf8');

  test.each(settingPaths)(
    'has %s with its bounds, its default, its section of the window and who may hand it out',
    (path) => {
      const line = reference.split('\n').find((each) => each.startsWith(`| \`${path}\``)) ?? '';
      const cells = line.split(' | ');
      const [, value = '', byDefault, window = '', preset] = cells;
      const shape = settingShapes[path];
      const { window: section, preset: rule } = settingEntry(path);
      if (shape.kind === 'number') {
        for (const bound of [shape.min, shape.above, shape.max])
          if (bound !== null) expect(value).toContain(String(bound));
        expect(value.includes('whole')).toBe(shape.isWhole);
      }
      if (shape.kind === 'choice') for (const each of shape.values) expect(value).toContain(each);
      expect(byDefault).toBe(`\`${JSON.stringify(valueOfSetting(defaults, path))}\``);
      expect(preset).toBe(rule.replace('-', ' '));
      expect(window).toBe(typeof section === 'string' ? en.settings.parts[section] : `no: ${section.notBecause}`);
    },
  );
});

const fieldPaths: FieldPath[] = settingsParts.flatMap(fieldPathsIn);

describe('the window', () => {
  it('has a field for every setting, or the table says why not', () => {
    const elsewhere = settingPaths.filter((path) => !fieldPaths.some((each) => each === path));
    expect(elsewhere).toEqual(['capture.recent', 'guide', 'prices', 'renewPrices', 'currency', 'people', 'joinPreset']);
  });

  test.each(fieldPaths)('shows %s as it is and writes it back unchanged, for every valid value', (path) => {
    const { read, parse } = fieldOf(path);
    for (const value of valuesFor(path)) {
      const settings = settingsSchema.safeParse(withSetting({}, path, value)).data;
      if (!settings) continue;
      const text = read(settings);
      const written = withSetting({}, path, parse(text));
      expect(valueOfSetting(settingsSchema.parse(written), path)).toEqual(valueOfSetting(settings, path));
      expect({ value, isEnterable: firstInvalidLine(path, text) === null }).toEqual({
        value,
        isEnterable: isEnterable(path, value),
      });
    }
  });

  const numbers = fieldPaths.filter((path) => settingShapes[path].kind === 'number');
  test.each(numbers)('takes as %s the numbers that the schema takes, and no others', (path) => {
    const { scale, parse } = fieldOf(path);
    const values = valuesFor(path).filter((value) => typeof value === 'number');
    // Typed in a larger unit, parts of the stored unit are rounded.
    for (const value of scale === 1 ? values : values.filter(Number.isInteger)) {
      expect({ value, isTaken: parse(String(value / scale)) !== undefined }).toEqual({
        value,
        isTaken: isValid(path, value),
      });
    }
    expect(parse('many')).toBeUndefined();
    expect(parse('') === undefined).toBe(!isValid(path, null));
  });

  const choices = fieldPaths.filter((path) => ['choice', 'switch'].includes(settingShapes[path].kind));
  test.each(choices)('offers for %s all values of the schema, each with a text', (path) => {
    const field = fieldOf(path);
    const offered = choicesOf(field, field.read(defaults), en) ?? [];
    const values = field.shape.kind === 'choice' ? field.shape.values : ['on', 'off'];
    expect(offered.map(({ value }) => value)).toEqual(values);
    for (const { value, label } of offered) {
      expect(label).not.toBe(value);
      expect(isValid(path, field.parse(value))).toBe(true);
    }
  });

  it('shows that neither traces nor metrics are sent', () => {
    const settings = settingsSchema.parse({ telemetry: { traces: false, metrics: false } });
    const shown = (['telemetry.traces', 'telemetry.metrics'] as const).map((path) => fieldOf(path).read(settings));
    expect(shown).toEqual(['off', 'off']);
  });
});
