import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Examples } from '../../cli/help.ts';
import { offerPreset } from '../../cli/offer-preset.ts';
import { CliError, exitCodes } from '../../cli/programs/exit-codes.ts';
import type { VerbContext, Verbs } from '../../cli/verb.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { JoinState } from '../../contract/team-preset.ts';
import { askToConfirm } from './login.ts';

interface JoinOptions {
  group?: string;
  yes?: boolean;
}

type Joined = Extract<JoinState, { state: 'joined' }>;

export const joinExamples: Examples = {
  join: ['sluice join https://gateway.example', 'sluice join https://gateway.example --group research --yes'],
  leave: ['sluice leave https://gateway.example', 'sluice leave https://gateway.example --json'],
};

export function addJoinVerbs(program: Command, { on }: Verbs): void {
  const join = program
    .command('join')
    .argument('<url>', 'the address of the team gateway: https://gateway.example')
    .option('--group <id>', 'the group of your key there, if you are in several')
    .option('-y, --yes', 'apply the gateway’s team preset, if it has one, without asking')
    .description('sign in to a team gateway, and use it as a provider with a key of your own');
  on<JoinOptions>(join, (context, [url = ''], options) => joinTeam(context, url, options));
  const leave = program
    .command('leave')
    .argument('<url>', 'the address of the team gateway')
    .description('undo "join": remove the provider here, the key and sign-in there, and unlock its team preset');
  on(leave, (context, [url = '']) => leaveTeam(context, url));
}

async function joinTeam(context: VerbContext, url: string, options: JoinOptions): Promise<void> {
  const { control, output } = context;
  const { group, yes = false } = options;
  const { id, signIn, intervalSeconds } = await control.execute({ type: 'team.join', url });
  if (signIn) output.note(askToConfirm(signIn));
  for (;;) {
    const now = await control.execute({ type: 'team.finish-join', id, ...(group !== undefined && { group }) });
    switch (now.state) {
      case 'joined':
        return showJoined(context, now, yes);
      case 'choosing': {
        const ids = now.groups.map((each) => each.id).join(', ');
        throw new CliError(`Choose the group of your key with --group: ${ids}.`, exitCodes.usage);
      }
      default:
        await pause(intervalSeconds * 1_000);
    }
  }
}

async function showJoined(context: VerbContext, joined: Joined, yes: boolean): Promise<void> {
  const { output } = context;
  const { provider, key, group, preset } = joined;
  if (preset.state === 'offered' && !yes) output.note('You have joined. The gateway offers a team preset:');
  const { state, text } = await applyOffered(context, joined, yes);
  const summary = `Joined: provider "${provider}", group "${group}".`;
  output.show({ provider, key, group, preset: state }, text === null ? summary : `${summary}\n${text}`);
}

/** The gateway stays joined whether or not its team preset is applied. `text`: null if there is nothing to report. */
async function applyOffered(context: VerbContext, { preset, provider }: Joined, yes: boolean) {
  if (preset.state === 'none') return { state: 'none', text: null };
  if (preset.state === 'managed')
    return { state: 'managed', text: notApplied('this machine has a policy or built-in one') };
  if (preset.state === 'unusable') return { state: 'unusable', text: notApplied(preset.reason) };
  try {
    const applied = await offerPreset(context, preset.preset, { yes, joined: provider });
    return applied
      ? { state: 'applied', text: applied.text }
      : { state: 'declined', text: notApplied('you have declined it') };
  } catch (error) {
    if (error instanceof CliError) return { state: 'declined', text: notApplied(nobodyAsked) };
    if (error instanceof GatewayError) return { state: 'unusable', text: notApplied(error.message) };
    throw error;
  }
}

const notApplied = (reason: string) => `The gateway’s team preset is not applied: ${reason.replace(/\.$/, '')}.`;
const nobodyAsked = 'without a terminal nobody can be asked; leave the gateway, and join it with --yes';

async function leaveTeam({ control, output }: VerbContext, url: string): Promise<void> {
  const { gatewayOrigin } = await import('../joining/team-gateway.ts');
  const origin = gatewayOrigin(url);
  const provider = (await control.query({ type: 'providers' })).find(({ baseUrl }) => baseUrl === `${origin}/v1`);
  if (!provider) throw new CliError(`This Sluice has not joined ${origin}.`);
  const { keyEnded, presetLeft } = await control.execute({ type: 'team.leave', provider: provider.id });
  if (!keyEnded) output.note(`Your key there could not be revoked. Revoke it in the window at ${origin}.`);
  const unlocked = presetLeft ? ' Its team preset no longer locks anything.' : '';
  output.show({ provider: provider.id }, `Left ${origin}.${unlocked} Requests that you sent stay in your ledger.`);
}
