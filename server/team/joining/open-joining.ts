/** Opens the joining of team gateways. Imported with the first join. */
import type { Joining } from '../../control/joining.ts';
import type { TeamPart } from '../../engine/team.ts';
import { JoinService } from './join-service.ts';
import { openLogins, rememberLogins } from './logins.ts';

export function openJoining({ signIns, ...ports }: Parameters<TeamPart['openJoining']>[0]): Joining {
  return new JoinService({ ...ports, logins: signIns ? openLogins(signIns.dataDir, signIns) : rememberLogins() });
}
