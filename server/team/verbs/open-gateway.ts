/** The control plane of a team's gateway, for `--gateway`. */
import type { Control } from '../../cli/control.ts';
import { createOutbound } from '../../cli/outbound.ts';
import { CliError } from '../../cli/programs/exit-codes.ts';
import type { Environment } from '../../engine/environment.ts';
import { openLogins } from '../joining/logins.ts';
import { createTeamGateway, gatewayOrigin } from '../joining/team-gateway.ts';

export async function openGateway(address: string, dataDir: string, environment: Environment): Promise<Control> {
  const origin = gatewayOrigin(address);
  const { passphrase, sessionBus, secrets: prefer } = environment;
  const token = environment.token ?? (await openLogins(dataDir, { passphrase, sessionBus, prefer }).find(origin));
  if (token === undefined) throw new CliError(`You are not signed in to ${origin}. Run "sluice login ${origin}".`);
  const { fetch, close } = createOutbound(environment);
  return { origin, ...createTeamGateway(fetch, origin, token), close };
}
