import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliError, exitCodes } from './exit-codes.ts';
import { askToConfirm } from './login.ts';
import type { VerbContext, Verbs } from './verb.ts';

interface JoinOptions {
  group?: string;
}

export function addJoinVerbs(program: Command, { on }: Verbs): void {
  const join = program
    .command('join')
    .argument('<url>', 'the address of the team gateway: https://gateway.example')
    .option('--group <id>', 'the group of your key there, if you are in several')
    .description('sign in to a team gateway, and use it as a provider with a key of your own');
  on<JoinOptions>(join, (context, [url = ''], { group }) => joinTeam(context, url, group));
  const leave = program
    .command('leave')
    .argument('<url>', 'the address of the team gateway')
    .description('take away what "join" has made: the provider here, the key and the sign-in there');
  on(leave, (context, [url = '']) => leaveTeam(context, url));
}

async function joinTeam({ control, output }: VerbContext, url: string, group: string | undefined): Promise<void> {
  const { id, signIn, intervalSeconds } = await control.execute({ type: 'team.join', url });
  if (signIn) output.note(askToConfirm(signIn));
  for (;;) {
    const now = await control.execute({ type: 'team.finish-join', id, ...(group !== undefined && { group }) });
    switch (now.state) {
      case 'joined':
        return output.show(
          { provider: now.provider, key: now.key, group: now.group },
          `Joined: provider "${now.provider}", group "${now.group}".`,
        );
      case 'choosing': {
        const ids = now.groups.map((each) => each.id).join(', ');
        throw new CliError(`Choose the group of your key with --group: ${ids}.`, exitCodes.usage);
      }
      default:
        await pause(intervalSeconds * 1_000);
    }
  }
}

async function leaveTeam({ control, output }: VerbContext, url: string): Promise<void> {
  const { gatewayOrigin } = await import('../teams/team-gateway.ts');
  const origin = gatewayOrigin(url);
  const joined = (await control.query({ type: 'providers' })).find(({ baseUrl }) => baseUrl === `${origin}/v1`);
  if (!joined) throw new CliError(`This Sluice has not joined ${origin}.`);
  const { keyEnded } = await control.execute({ type: 'team.leave', provider: joined.id });
  if (!keyEnded) output.note(`Your key there could not be revoked. Revoke it in the window at ${origin}.`);
  output.show({ provider: joined.id }, `Left ${origin}. Requests that you sent stay in your ledger.`);
}
