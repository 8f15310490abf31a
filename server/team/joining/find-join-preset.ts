import { checkTeamPreset } from '../../config/read-team-preset.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { JoinPreset } from '../../contract/team-preset.ts';
import type { TeamGateway } from './team-gateway.ts';

/** The team preset that the gateway offers. A faulty preset does not prevent joining. */
export async function findJoinPreset(team: Pick<TeamGateway, 'query'>, isManaged: boolean): Promise<JoinPreset> {
  try {
    const { preset } = await team.query({ type: 'join-preset' });
    if (preset === null) return { state: 'none' };
    return isManaged ? { state: 'managed' } : { state: 'offered', preset: checkTeamPreset(preset, 'of the gateway') };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // A gateway of an earlier version does not know the query.
    return error.code === 'invalid_command' ? { state: 'none' } : { state: 'unusable', reason: error.message };
  }
}
