/**
 * What gateways for teams add to the program, as `engine/team.ts` and `cli/team.ts` ask for it. The descriptions of its
 * verbs are loaded with it, everything else when it is used.
 */
import type { Control } from '../cli/control.ts';
import type { ConnectedReplicas, TeamVerbPorts } from '../cli/team.ts';
import type { Joining } from '../control/joining.ts';
import type { Environment } from '../engine/environment.ts';
import type { PeoplePorts, PeopleSide, TeamPart } from '../engine/team.ts';
import { addJoinVerbs, joinExamples } from './verbs/join.ts';
import { addLoginVerbs, loginExamples } from './verbs/login.ts';
import { addPeopleVerbs, peopleExamples } from './verbs/people.ts';
import { addScimVerbs, scimExamples } from './verbs/scim.ts';
import { addTokenVerbs, tokenExamples } from './verbs/token.ts';

export async function openPeople(ports: PeoplePorts): Promise<PeopleSide> {
  return (await import('./people/open-people.ts')).openPeople(ports);
}

export async function openJoining(ports: Parameters<TeamPart['openJoining']>[0]): Promise<Joining> {
  return (await import('./joining/join-service.ts')).openJoining(ports);
}

export async function connectReplicas(url: string): Promise<ConnectedReplicas> {
  const { connectValkey, openReplicaLimits } = await import('./valkey/open-replica-limits.ts');
  const connected = await connectValkey(url);
  const { readValkeyAddress } = await import('./valkey/valkey-address.ts');
  return {
    open: (limits) => openReplicaLimits(connected, limits),
    renew: (newUrl) => connected.link.setCredentials(readValkeyAddress(newUrl)),
    close: () => connected.link.close(),
  };
}

export async function openGateway(address: string, dataDir: string, environment: Environment): Promise<Control> {
  return (await import('./verbs/open-gateway.ts')).openGateway(address, dataDir, environment);
}

export const verbExamples = { ...loginExamples, ...joinExamples, ...tokenExamples, ...peopleExamples, ...scimExamples };

export function addVerbs({ program, verbs, terminal }: TeamVerbPorts): void {
  addLoginVerbs(program, terminal);
  addJoinVerbs(program, verbs);
  addTokenVerbs(program, verbs);
  addPeopleVerbs(program, verbs);
  addScimVerbs(program, verbs);
}
