import { checkTeamPreset } from '../../config/read-team-preset.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import { refuseManagedOnly } from './change-team-preset.ts';

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
