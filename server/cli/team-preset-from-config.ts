import { isDeepStrictEqual } from 'node:util';
import { problemsOf, summarizeProblems } from '../config/check-config.ts';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { settingsSchema } from '../contract/settings.ts';
import {
  isImportable,
  type SettingPath,
  settingEntry,
  settingPaths,
  valueOfSetting,
  withSetting,
} from '../contract/settings-table.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../contract/team-preset.ts';

interface PresetFromConfig {
  preset: TeamPreset;
  /** Settings that differ from their defaults but are not handed out. */
  leftOut: SettingPath[];
}

/**
 * A team preset that distributes a configuration: its providers with an empty slot for each credential, its aliases and
 * groups, and the settings that differ from their defaults, as far as a preset of this kind may hold them. Keys are not
 * included, and nothing is locked.
 *
 * @throws GatewayError `invalid_value` if something in the configuration looks like a secret
 */
export function presetFrom(
  config: Config,
  names: { name: string; organisation: string },
  kind: 'imported' | 'managed',
): PresetFromConfig {
  const defaults = settingsSchema.parse({});
  const changed = settingPaths.filter(
    (path) => !isDeepStrictEqual(valueOfSetting(config.settings, path), valueOfSetting(defaults, path)),
  );
  const isHandedOut = (path: SettingPath) =>
    isImportable(path) || (kind === 'managed' && settingEntry(path).preset === 'managed');
  const settings = changed
    .filter(isHandedOut)
    .reduce<object>((all, path) => withSetting(all, path, valueOfSetting(config.settings, path)), {});
  const parsed = writtenTeamPresetSchema.safeParse({
    teamPreset: 1,
    ...names,
    providers: config.providers.map(({ joined: _, certificate: __, ...provider }) => ({
      ...provider,
      credentials: provider.credentials.map(({ id, label }) => ({ id, ...(label !== undefined && { label }) })),
    })),
    aliases: config.aliases,
    groups: config.groups.map(({ cassette: _, ...group }) => group),
    ...(Object.keys(settings).length > 0 && { settings }),
  });
  if (parsed.success) return { preset: parsed.data, leftOut: changed.filter((path) => !isHandedOut(path)) };
  const reason = summarizeProblems(problemsOf(parsed.error));
  throw new GatewayError('invalid_value', `This configuration cannot be handed out: ${reason}.`);
}
