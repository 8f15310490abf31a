/** The commands for joining and leaving a team's gateway (`server/team/joining`), which are loaded on first use. */
import type { CommandInputMap, CommandMap, CommandResults } from '../contract/commands.ts';
import type { ProviderConfig } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';

export interface Joining {
  begin(command: CommandMap['team.join']): Promise<CommandResults['team.join']>;
  finish(command: CommandMap['team.finish-join']): Promise<CommandResults['team.finish-join']>;
  leave(command: CommandMap['team.leave']): Promise<CommandResults['team.leave']>;
}

export interface JoinPorts {
  /** The providers of this Sluice. */
  providers(): readonly ProviderConfig[];
  addProvider(command: CommandInputMap['provider.add']): Promise<CommandResults['provider.add']>;
  /** Also removes the team preset of that gateway. */
  removeProvider(command: CommandInputMap['provider.remove']): Promise<unknown>;
  /** Whether this machine has a policy or a built-in preset. */
  isManaged(): boolean;
  /** Origin of the team gateway that offered the imported preset in force. */
  presetGateway(): string | null;
  nowMs(): number;
}

/** Null in a build without the part for teams. */
export type OpenJoining = ((ports: JoinPorts) => Promise<Joining>) | null;

export function createJoining(open: OpenJoining, ports: JoinPorts): Joining {
  let opened: Promise<Joining> | undefined;
  const joining = async () => {
    if (!open) throw new GatewayError('not_found', 'This build of Sluice cannot join the gateways of teams.');
    opened ??= open(ports);
    return opened;
  };
  return {
    begin: async (command) => (await joining()).begin(command),
    finish: async (command) => (await joining()).finish(command),
    leave: async (command) => (await joining()).leave(command),
  };
}
