import type { Command } from 'commander';
import type { Verbs } from './verb.ts';

interface JoinOptions {
  group?: string;
}

export function addJoinVerbs(program: Command, { on }: Verbs): void {
  const join = program
    .command('join')
    .argument('<url>', 'the address of the team gateway: https://gateway.example')
    .option('--group <id>', 'the group of your key there, if you are in several')
    .description('sign in to a team gateway, and use it as a provider with a key of your own');
  on<JoinOptions>(join, async (context, [address = ''], { group }) => {
    const { joinTeam } = await import('./join-team.ts');
    await joinTeam(context, address, group);
  });
  const leave = program
    .command('leave')
    .argument('<url>', 'the address of the team gateway')
    .description('take away what "join" has made: the provider here, the key and the sign-in there');
  on(leave, async (context, [address = '']) => {
    const { leaveTeam } = await import('./join-team.ts');
    await leaveTeam(context, address);
  });
}
