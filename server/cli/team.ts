/** The port to what gateways for teams add to the command line (`server/team`). */
import type { Command } from 'commander';
import type { Environment } from '../engine/environment.ts';
import type { EngineOptions } from '../engine/open-engine.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';
import type { Verbs } from './verb.ts';

export interface TeamCommands {
  addVerbs(ports: TeamVerbPorts): void;
  readonly verbExamples: Examples;
  /** The control plane of a team's gateway. */
  openGateway(address: string, dataDir: string, environment: Environment): Promise<Control>;
  /** Connects to the server that counts limits for all replicas. Rejects with a GatewayError. */
  connectReplicas(url: string): Promise<ConnectedReplicas>;
}

export interface TeamVerbPorts {
  program: Command;
  verbs: Verbs;
  terminal: Terminal;
}

export interface ConnectedReplicas {
  open: NonNullable<EngineOptions['openReplicaLimits']>;
  /** Connections use the user and password of this URL from the next time on that they are opened. Throws a GatewayError. */
  renew(url: string): void;
  /** Closes what no limits have been opened on. */
  close(): void;
}

export type LoadTeam = () => Promise<TeamCommands | undefined>;

/** Throws a CliError in a build without the part for teams. */
export function partFor(option: string, team: TeamCommands | undefined): TeamCommands {
  if (!team) throw new CliError(`${option}: this build of Sluice has no part for teams.`, exitCodes.usage);
  return team;
}
