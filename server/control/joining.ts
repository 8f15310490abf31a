import type { CommandMap, CommandResults } from '../contract/commands.ts';
import type { JoinPorts } from '../team/joining/join-service.ts';

/** The commands for joining and leaving a team's gateway. */
interface Joining {
  begin(command: CommandMap['team.join']): Promise<CommandResults['team.join']>;
  finish(command: CommandMap['team.finish-join']): Promise<CommandResults['team.finish-join']>;
  leave(command: CommandMap['team.leave']): Promise<CommandResults['team.leave']>;
}

/** Its parts are loaded on first use. */
export function createJoining(ports: JoinPorts): Joining {
  const load = async () => {
    const { JoinService } = await import('../team/joining/join-service.ts');
    return new JoinService(ports);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const service = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    begin: async (command) => (await service()).begin(command),
    finish: async (command) => (await service()).finish(command),
    leave: async (command) => (await service()).leave(command),
  };
}
