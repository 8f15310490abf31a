import { isDeepStrictEqual } from 'node:util';
import { problemsOf, summarizeProblems } from '../config/check-config.ts';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { settingsSchema } from '../contract/settings.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../contract/team-preset.ts';

/** Settings that apply to one machine only. */
const ownSettings: ReadonlySet<string> = new Set(['host', 'port', 'extraCaFiles']);

/**
 * A team preset that distributes a configuration: its providers with an empty slot for each credential, its aliases and
 * groups, and the settings that differ from their defaults. Keys are not included, and nothing is locked.
 *
 * @throws GatewayError `invalid_value` if something in the configuration looks like a secret
 */
export function presetFrom(config: Config, names: { name: string; organisation: string }): TeamPreset {
  const defaults = settingsSchema.parse({});
  const settings = Object.entries(config.settings).filter(
    ([name, value]) => !ownSettings.has(name) && !isDeepStrictEqual(value, Reflect.get(defaults, name)),
  );
  const parsed = writtenTeamPresetSchema.safeParse({
    teamPreset: 1,
    ...names,
    providers: config.providers.map(({ joined: _, ...provider }) => ({
      ...provider,
      credentials: provider.credentials.map(({ id, label }) => ({ id, ...(label !== undefined && { label }) })),
    })),
    aliases: config.aliases,
    groups: config.groups.map(({ cassette: _, ...group }) => group),
    ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
  });
  if (parsed.success) return parsed.data;
  const reason = summarizeProblems(problemsOf(parsed.error));
  throw new GatewayError('invalid_value', `This configuration cannot be handed out: ${reason}.`);
}
