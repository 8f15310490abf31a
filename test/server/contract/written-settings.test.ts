import { expect, test } from 'vitest';
import { checkConfig } from '../../../server/config/check-config.ts';
import { commandSchema } from '../../../server/contract/commands.ts';
import { configSchema } from '../../../server/contract/config.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../../../server/contract/team-preset.ts';

/** As stored and exported by an earlier version. */
const earlier = { version: 1, settings: { port: 4811, runawayGuard: false } } as const;
const today = configSchema.parse({ version: 1, settings: { port: 4811 } });

test('a configuration stored with a setting that is no more still loads, without it', () => {
  expect(checkConfig(earlier)).toEqual({ kind: 'good', config: today });
});

test('a configuration exported with a setting that is no more can still be imported', () => {
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

test.each<[Partial<TeamPreset>, Partial<TeamPreset>]>([
  [{ settings: { runawayGuard: true, ledger } }, { settings: { ledger } }],
  [
    { settings: { runawayGuard: true, ledger }, locked: ['settings', 'settings/runawayGuard'] },
    { settings: { ledger }, locked: ['settings'] },
  ],
  [
    { settings: { runawayGuard: true }, locked: ['settings'] },
    { settings: {}, locked: [] },
  ],
])('a team preset that sets or locks a removed setting keeps the rest: %j', (written, read) => {
  const first = writtenTeamPresetSchema.parse({ ...preset, ...written });
  expect(first).toEqual({ ...preset, ...read });
  expect(writtenTeamPresetSchema.parse(first)).toEqual(first);
});
