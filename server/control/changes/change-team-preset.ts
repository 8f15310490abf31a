/**
 * Imports a team preset from a file, a link or pasted text. The preset is untrusted: the person decides by its preview.
 */

import { checkTeamPreset } from '../../config/read-team-preset.ts';
import type { CommandResults } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import { isImportable, settingPaths, valueOfSetting } from '../../contract/settings-table.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import { checkProvider, missingSecrets } from '../entries/provider-secrets.ts';
import type { Change, Changer } from './change.ts';
import { findProvider } from './change-provider.ts';
import { type MergedPreset, mergeTeamPreset } from './team-presets.ts';

type ImportedPreset = MergedPreset & { importedPreset: TeamPreset };

export const applyTeamPreset: Changer<'team-preset.apply'> = (config, { preset, joined }, { ownAddresses }) => ({
  ...importTeamPreset(config, preset, ownAddresses),
  presetGateway: joined === undefined ? undefined : new URL(findProvider(config, joined).baseUrl).origin,
  result: resultOf(preset),
});

/** An administrator's declaration, who may set everything by other commands as well. */
export const applyDeclared: Changer<'config.apply'> = (config, { preset }, { ownAddresses }) => {
  if (preset.locked !== undefined) {
    throw new GatewayError(
      'invalid_value',
      'This file locks values, which only a team preset for other machines can: leave out "locked".',
      {
        param: 'locked',
      },
    );
  }
  const { config: merged, deleteBefore } = mergeTeamPreset(config, preset, 'everything');
  checkNamed(merged, preset, ownAddresses);
  return { config: merged, deleteBefore, result: resultOf(preset) };
};

function resultOf({ providers }: TeamPreset): Change<CommandResults['config.apply']>['result'] {
  const ids = new Set(providers?.map(({ id }) => id));
  return ({ revision, views }) => ({
    revision,
    missingSecrets: missingSecrets(views.providers().filter(({ id }) => ids.has(id))),
  });
}

function checkNamed({ providers }: Config, preset: TeamPreset, ownAddresses: ReadonlySet<string>): void {
  for (const provider of providers) {
    if (preset.providers?.some(({ id }) => id === provider.id)) checkProvider(provider, ownAddresses);
  }
}

/** Throws GatewayError `invalid_value` for content that is allowed only in a managed preset. */
export function importTeamPreset(
  config: Config,
  preset: TeamPreset,
  ownAddresses: ReadonlySet<string>,
): ImportedPreset {
  refuseManagedOnly(preset);
  const merged = mergeTeamPreset(config, preset, 'everything');
  checkNamed(merged.config, preset, ownAddresses);
  return { ...merged, importedPreset: preset };
}

/** Throws GatewayError `invalid_value` for content that is allowed only in a managed preset. */
export function refuseManagedOnly(preset: TeamPreset): void {
  const { settings = {} } = preset;
  const setting = settingPaths.find((path) => !isImportable(path) && valueOfSetting(settings, path) !== undefined);
  if (setting !== undefined) throw managedOnly(`the setting "${setting}"`, `settings.${setting}`);
  for (const { id, credentials = [] } of preset.providers ?? []) {
    const slot = credentials.find(({ secret }) => secret !== undefined);
    if (slot) throw managedOnly(`the location of credential "${id}/${slot.id}"`, 'providers');
  }
}

function managedOnly(content: string, param: string): GatewayError {
  return new GatewayError(
    'invalid_value',
    `This team preset contains ${content}, which is allowed only in a preset that is built into the installer or installed by an administrator.`,
    { param },
  );
}

/** Bounded because the status, which contains all settings, is part of each change event. */
const largestBytes = 64 * 1024;

/**
 * The team preset for those who join; null if there is none.
 *
 * @throws GatewayError `invalid_value` if the preset could not be imported
 */
export function checkJoinPreset({ joinPreset }: Pick<Settings, 'joinPreset'>): TeamPreset | null {
  if (joinPreset === null) return null;
  if (JSON.stringify(joinPreset).length > largestBytes) {
    throw new GatewayError('invalid_value', 'joinPreset: it is larger than 64 kB.', { param: 'settings.joinPreset' });
  }
  const preset = checkTeamPreset(joinPreset, 'of the setting joinPreset');
  refuseManagedOnly(preset);
  return preset;
}
