import type { CommandMap, CommandResults } from '../contract/commands.ts';
import type { JoinPorts } from '../teams/join-service.ts';

/** The commands that join a team's gateway, and leave it. */
export interface Joining {
  begin(command: CommandMap['team.join']): Promise<CommandResults['team.join']>;
  finish(command: CommandMap['team.finish-join']): Promise<CommandResults['team.finish-join']>;
  leave(command: CommandMap['team.leave']): Promise<CommandResults['team.leave']>;
}

/** Its parts are loaded when they are first asked for. */
export function createJoining(ports: JoinPorts): Joining {
  const load = async () => {
    const { JoinDesk } = await import('../teams/join-service.ts');
    return new JoinDesk(ports);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const desk = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    begin: async (command) => (await desk()).begin(command),
    finish: async (command) => (await desk()).finish(command),
    leave: async (command) => (await desk()).leave(command),
  };
}
