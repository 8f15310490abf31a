/** A team's gateway becomes a provider of this Sluice, with a key of the person's own. */
import { hostname } from 'node:os';
import { GatewayError } from '../contract/errors.ts';
import type { Person } from '../contract/people.ts';
import { readEnvironment } from '../environment.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { openLogins } from './logins.ts';
import { beginDevice, endToken, gatewayOrigin, openTeamGateway, waitUntilLetIn } from './team-gateway.ts';
import type { VerbContext } from './verb.ts';

/** `group`: of the key; undefined: the only one in which the person may have one. Rejects with a CliError or a GatewayError. */
export async function joinTeam(context: VerbContext, address: string, group: string | undefined): Promise<void> {
  const origin = gatewayOrigin(address);
  if (await joinedProvider(context.control, origin)) throw new CliError(`This Sluice has joined ${origin} already.`);
  const team = openTeamGateway(origin, await tokenFor(context, origin));
  const { person } = await team.query({ type: 'who-am-i' });
  const into = groupOf(person, group);
  const name = hostname();
  const made = await team.execute({ type: 'key.create', group: into, own: true, name, keepSecret: false });
  try {
    const added = await context.control.execute({
      type: 'provider.add',
      provider: { name: new URL(origin).host, baseUrl: baseUrlOf(origin) },
      credentials: [{ id: made.key.id, label: `Your key in ${into}`, secret: made.secret }],
    });
    const { id } = added.provider;
    context.output.show({ provider: id, key: made.key.id, group: into }, `Joined: provider "${id}", group "${into}".`);
  } catch (error) {
    // Nobody would know its secret.
    await team.execute({ type: 'key.revoke', id: made.key.id });
    throw error;
  }
}

/** Takes away what `joinTeam` has made. */
export async function leaveTeam(context: VerbContext, address: string): Promise<void> {
  const origin = gatewayOrigin(address);
  const provider = await joinedProvider(context.control, origin);
  if (!provider) throw new CliError(`This Sluice has not joined ${origin}.`);
  const logins = loginsOf(context);
  const token = await logins.find(origin);
  const team = token === undefined ? null : openTeamGateway(origin, token);
  for (const { id } of provider.credentials) await revokeIfThere(team, id);
  await context.control.execute({ type: 'provider.remove', id: provider.id });
  if (token !== undefined) await endToken(origin, token);
  await logins.forget(origin);
  context.output.show({ provider: provider.id }, `Left ${origin}. Requests that you sent stay in your ledger.`);
}

const baseUrlOf = (origin: string) => `${origin}/v1`;

function loginsOf({ dataDir, terminal }: VerbContext) {
  return openLogins(dataDir, readEnvironment(terminal.env));
}

async function joinedProvider(control: Control, origin: string) {
  return (await control.query({ type: 'providers' })).find(({ baseUrl }) => baseUrl === baseUrlOf(origin));
}

/** Of an earlier sign-in, or of a new one. */
async function tokenFor(context: VerbContext, origin: string): Promise<string> {
  const logins = loginsOf(context);
  const kept = await logins.find(origin);
  if (kept !== undefined) return kept;
  const device = await beginDevice(origin);
  const where = device.verificationUriComplete ?? device.verificationUri;
  context.output.note(`Open ${where} in a browser and confirm the code ${device.userCode}.`);
  const { token } = await waitUntilLetIn(origin, device, hostname());
  await logins.keep(origin, token);
  return token;
}

function groupOf(person: Person | null, wanted: string | undefined): string {
  if (wanted !== undefined) return wanted;
  const groups = person ? [...new Set([...person.memberOf, ...person.manages])] : [];
  const [only] = groups;
  if (only !== undefined && groups.length === 1) return only;
  const named = groups.length === 0 ? '' : `: ${groups.join(', ')}`;
  throw new CliError(`Choose the group of your key with --group${named}.`, exitCodes.usage);
}

/** Somebody may have revoked it there; without a sign-in it stays, and the window there can revoke it. */
async function revokeIfThere(team: Control | null, id: string): Promise<void> {
  try {
    await team?.execute({ type: 'key.revoke', id });
  } catch (error) {
    const isGone = error instanceof GatewayError && (error.code === 'not_found' || error.code === 'not_signed_in');
    if (!isGone) throw error;
  }
}
