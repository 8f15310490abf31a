import { describe, expect, test } from 'vitest';
import { checkConfig } from '../../../server/config/check-config.ts';
import { commandSchema } from '../../../server/contract/commands.ts';
import { configSchema } from '../../../server/contract/config.ts';
import {
  configVersion,
  describeRemovedFields,
  goneCall,
  goneWords,
  type RemovedFeature,
  removedFeatures,
  withoutRemovedFields,
} from '../../../server/contract/removed-features.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../../../server/contract/team-preset.ts';
import { parseInput } from '../../../server/control/entries/parse-input.ts';

/** As stored and exported by an earlier version. */
const earlier = { version: 1, settings: { port: 4811, runawayGuard: false } } as const;
const today = configSchema.parse({ version: configVersion, settings: { port: 4811 } });

test('a configuration with a removed field still loads, without it, whatever version it says', () => {
  expect(checkConfig(earlier)).toEqual({ kind: 'good', config: today });
  expect(checkConfig({ ...earlier, version: configVersion })).toEqual({ kind: 'good', config: today });
});

test('a configuration exported with a removed field can still be imported', () => {
  expect(commandSchema.parse({ type: 'config.import', config: earlier })).toEqual({
    type: 'config.import',
    config: today,
  });
});

test.each([[{ runawayGuards: true }], [{ runawayGuard: true, port: 'x' }], [null], [[]], ['x']])(
  'settings that never existed are still refused: %j',
  (settings) => {
    expect(checkConfig({ version: 1, settings }).kind).toBe('bad');
  },
);

const preset = { teamPreset: 1, name: 'Acme', organisation: 'Acme' } satisfies TeamPreset;
const ledger = { retentionDays: 30 };

test.each<[object, Partial<TeamPreset>]>([
  [{ settings: { runawayGuard: true, ledger } }, { settings: { ledger } }],
  [
    { settings: { runawayGuard: true, ledger }, locked: ['settings', 'settings/runawayGuard'] },
    { settings: { ledger }, locked: ['settings'] },
  ],
  [
    { settings: { runawayGuard: true }, locked: ['settings'] },
    { settings: {}, locked: [] },
  ],
])('a team preset that sets or locks a removed field keeps the rest: %j', (written, read) => {
  const first = writtenTeamPresetSchema.parse({ ...preset, ...written });
  expect(first).toEqual({ ...preset, ...read });
  expect(writtenTeamPresetSchema.parse(first)).toEqual(first);
});

test('a team preset that locks what it never set is still refused', () => {
  const written = { ...preset, settings: { runawayGuard: true }, locked: ['settings/port'] };
  expect(writtenTeamPresetSchema.safeParse(written).success).toBe(false);
});

const features: RemovedFeature[] = [
  {
    name: 'echoes',
    instead: 'shout',
    fields: { 'groups.*.echo': null, 'settings.sound.echo': 'off', 'providers.*.credentials.*.echo': false },
    words: ['echo', 'group put --echo', 'log --export echo'],
    calls: ['echo.start', '/control/echo.txt'],
  },
];

describe('a removed field', () => {
  const frozen = Object.freeze({
    version: 1,
    groups: [{ id: 'a', echo: { share: 1 } }, { id: 'b', echo: null }, { id: 'c' }, 'not an object'],
    settings: { sound: { echo: 'loud', volume: 1 }, joinPreset: { groups: [{ id: 'a', echo: true }] } },
    providers: [{ id: 'p', credentials: [{ id: 'c1', echo: true }] }],
    keys: [{ id: 'k', echo: 'is no removed field' }],
  });

  test('is dropped in lists, in objects and in the preset for those who join, and the value is not touched', () => {
    const before = structuredClone(frozen);
    const { value, uses } = withoutRemovedFields(frozen, features);
    expect(frozen).toEqual(before);
    expect(value).toEqual({
      version: 1,
      groups: [{ id: 'a' }, { id: 'b' }, { id: 'c' }, 'not an object'],
      settings: { sound: { volume: 1 }, joinPreset: { groups: [{ id: 'a' }] } },
      providers: [{ id: 'p', credentials: [{ id: 'c1' }] }],
      keys: [{ id: 'k', echo: 'is no removed field' }],
    });
    expect(uses.map(({ places }) => places)).toEqual([
      ['groups.a.echo', 'settings.joinPreset.groups.a.echo'],
      ['settings.sound.echo'],
      ['providers.p.credentials.c1.echo'],
    ]);
  });

  test('that asked for nothing is dropped without a word', () => {
    const { value, uses } = withoutRemovedFields({ groups: [{ id: 'b', echo: null }] }, features);
    expect([value, uses]).toEqual([{ groups: [{ id: 'b' }] }, []]);
  });

  test.each([null, 'text', 1, [], {}, { groups: null }, { groups: {} }, { settings: [] }, { groups: [null, [1]] }])(
    'leaves what has none as it is: %j',
    (written) => {
      expect(withoutRemovedFields(written, features).value).toBe(written);
    },
  );

  test('is told in one sentence, with where it stood, what it was and what to use', () => {
    expect(describeRemovedFields(earlier, '/data/config.json')).toEqual([
      'settings.runawayGuard in /data/config.json has no effect any more, because Sluice has no guard against repeated prompts now: to stop a run that costs too much, set settings.sessionBudget.',
    ]);
    expect(describeRemovedFields({ settings: { runawayGuard: true } }, 'x')).toEqual([]);
  });
});

test.each([
  [['echo'], true],
  [['echo', '--json', 'anything'], true],
  [['echoes'], false],
  [['key', 'echo'], false],
  [['group', 'put', 'default', '--echo', 'loud'], true],
  [['group', 'put', 'default', '--echo=loud'], true],
  [['group', 'put', 'default', '--name', 'echo'], false],
  [['run', '--', 'group', 'put', '--echo'], false],
  [['group', 'put', 'default', '--', '--echo'], false],
  [['log', '--export', 'echo'], true],
  [['log', '--export=echo'], true],
  [['log', '--export', 'csv', '--text', 'echo'], false],
  [[], false],
])('the words %j ask for a removed feature: %j', (words, isGone) => {
  expect(goneWords(words, features)).toBe(isGone ? 'Sluice has no echoes any more: shout.' : null);
});

test.each([
  ['echo.start', true],
  ['/control/echo.txt', true],
  ['echo', false],
  [undefined, false],
])('the call %j asks for a removed feature: %j', (call, isGone) => {
  expect(goneCall(call, features) !== null).toBe(isGone);
});

test('a command with a removed field is carried out without it if it asks for nothing, and answered otherwise', () => {
  const update = (runawayGuard: unknown, more = {}) =>
    parseInput(commandSchema, { type: 'settings.update', changes: { port: 4811, runawayGuard, ...more } }, 'command');
  expect(update(true)).toEqual({ type: 'settings.update', changes: { port: 4811 } });
  expect(() => update(false)).toThrow('Sluice has no guard against repeated prompts any more: to stop a run');
  expect(() => update(true, { porter: 1 })).toThrow('changes: use an object with some of');
});

test('every removed feature is told in plain sentences', () => {
  for (const { name, instead, fields = {}, words = [], calls = [] } of removedFeatures) {
    expect(`${name} ${instead}`).not.toMatch(/[.!?]\s|[.!?]$|^[A-Z]/);
    expect([...Object.keys(fields), ...words, ...calls]).not.toEqual([]);
  }
});
