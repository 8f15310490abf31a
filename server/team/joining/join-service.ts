/** Joins a team's gateway: makes it a provider of this Sluice, with a personal key. Imported on first use. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { checkTeamPreset } from '../../config/read-team-preset.ts';
import type { CommandMap, CommandResults } from '../../contract/commands.ts';
import type { ProviderConfig } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { BegunJoin, JoinPreset, JoinState } from '../../contract/team-preset.ts';
import type { Joining, JoinPorts } from '../../control/joining.ts';
import type { TeamPart } from '../../engine/team.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import type { Fetch } from '../../transport/fetch.ts';
import { type Logins, openLogins, rememberLogins } from './logins.ts';
import {
  createTeamGateway,
  type DeviceSignIn,
  gatewayOrigin,
  pollToken,
  requestDeviceCode,
  revokeToken,
  type TeamGateway,
} from './team-gateway.ts';

interface Ports extends JoinPorts {
  fetch: Fetch;
  logins: Logins;
}

interface Begun {
  origin: string;
  /** Null if an earlier sign-in is still valid. */
  device: DeviceSignIn | null;
  /** Null while the sign-in is pending. */
  token: string | null;
  expiresAt: number;
}

interface SignedIn {
  team: TeamGateway;
  token: string;
}

/** Time to choose a group, for a person who is signed in already. */
const choiceMs = 600_000;
/** Beyond this number, the oldest unfinished sign-ins are dropped. */
const maxBegun = 20;

class JoinService {
  readonly #ports: Ports;
  readonly #pendingJoins = new Map<string, Begun>();
  /** Prevents that one join, requested twice, creates two keys. */
  readonly #inTurn = createSerialQueue();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async begin({ url }: CommandMap['team.join']): Promise<BegunJoin> {
    const { fetch, nowMs } = this.#ports;
    const origin = gatewayOrigin(url);
    if (this.#ports.providers().some(({ baseUrl }) => baseUrl === baseUrlOf(origin))) {
      throw controlError('conflict', { code: 'joined-already', origin });
    }
    const token = (await this.#signedIn(origin))?.token ?? null;
    const device = token === null ? await requestDeviceCode(fetch, origin) : null;
    const expiresAt = nowMs() + (device ? device.expiresInSeconds * 1_000 : choiceMs);
    const id = randomUUID();
    this.#pendingJoins.set(id, { origin, device, token, expiresAt });
    const [oldest] = this.#pendingJoins.keys();
    if (oldest !== undefined && this.#pendingJoins.size > maxBegun) this.#pendingJoins.delete(oldest);
    const signIn = device && {
      code: device.userCode,
      url: device.verificationUriComplete ?? device.verificationUri,
    };
    return { id, origin, signIn, intervalSeconds: device?.intervalSeconds ?? 1, expiresAt };
  }

  finish(command: CommandMap['team.finish-join']): Promise<JoinState> {
    return this.#inTurn(() => this.#finish(command));
  }

  async leave({ provider: id }: CommandMap['team.leave']): Promise<CommandResults['team.leave']> {
    const { logins, removeProvider } = this.#ports;
    const provider = this.#ports.providers().find((each) => each.id === id);
    if (!provider) throw controlError('not_found', { code: 'no-provider', id }, 'provider');
    const { origin } = new URL(provider.baseUrl);
    // Called before anything is removed, so that nothing is removed while the gateway is unreachable.
    const signedIn = await this.#signedIn(origin);
    const presetLeft = this.#ports.presetGateway() === origin;
    await removeProvider({ type: 'provider.remove', id });
    const keyEnded = signedIn !== null && (await this.#revokeRemotely(origin, signedIn, provider));
    await logins.forget(origin);
    return { keyEnded, presetLeft };
  }

  async #finish({ id, group }: CommandMap['team.finish-join']): Promise<JoinState> {
    const { fetch, logins, nowMs } = this.#ports;
    const pending = this.#pendingJoins.get(id);
    if (!pending || pending.expiresAt <= nowMs()) throw controlError('not_found', { code: 'joining-expired' }, 'id');
    const { origin, device } = pending;
    if (pending.token === null && device) {
      const { deviceCode } = device;
      const grant = await pollToken(fetch, origin, { deviceCode, name: hostname() });
      if (!grant) return { state: 'waiting' };
      pending.token = grant.token;
      pending.expiresAt = Math.max(pending.expiresAt, nowMs() + choiceMs);
      await logins.keep(origin, grant.token);
    }
    const team = createTeamGateway(fetch, origin, pending.token ?? '');
    const groups = (await team.query({ type: 'groups' })).map((each) => ({ id: each.id, name: each.name ?? null }));
    const into = group ?? (groups.length === 1 ? groups[0]?.id : undefined);
    if (into === undefined && groups.length === 0) throw controlError('forbidden', { code: 'no-group-there', origin });
    if (into === undefined) return { state: 'choosing', groups };
    const joined = await this.#join(team, origin, into);
    this.#pendingJoins.delete(id);
    const preset = await findJoinPreset(team, this.#ports.isManaged());
    return { state: 'joined', ...joined, group: into, preset };
  }

  async #join(team: TeamGateway, origin: string, group: string): Promise<{ provider: string; key: string }> {
    const created = await team.execute({ type: 'key.create', group, own: true, name: hostname(), keepSecret: false });
    const key = created.key.id;
    try {
      const added = await this.#ports.addProvider({
        type: 'provider.add',
        provider: { name: new URL(origin).host, baseUrl: baseUrlOf(origin), joined: true },
        credentials: [{ id: key, label: `Your key in ${group}`, secret: created.secret }],
      });
      return { provider: added.provider.id, key };
    } catch (error) {
      // Otherwise a key would remain whose secret is lost.
      await team.execute({ type: 'key.revoke', id: key });
      throw error;
    }
  }

  /**
   * Ends the key and the sign-in on the gateway. Resolves with whether that succeeded; it cannot be retried, because
   * nothing is kept here.
   */
  async #revokeRemotely(origin: string, { team, token }: SignedIn, { credentials }: ProviderConfig): Promise<boolean> {
    try {
      for (const { id } of credentials) await revokeIfThere(team, id);
      await revokeToken(this.#ports.fetch, origin, token);
      return true;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  /** Null if the person is not, or no longer, signed in there. */
  async #signedIn(origin: string): Promise<SignedIn | null> {
    const { fetch, logins } = this.#ports;
    const token = await logins.find(origin);
    if (token === undefined) return null;
    const team = createTeamGateway(fetch, origin, token);
    try {
      await team.query({ type: 'who-am-i' });
      return { team, token };
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'not_signed_in') return null;
      throw error;
    }
  }
}

const baseUrlOf = (origin: string) => `${origin}/v1`;

/** The key may already have been revoked there. */
async function revokeIfThere(team: TeamGateway, id: string): Promise<void> {
  try {
    await team.execute({ type: 'key.revoke', id });
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === 'not_found')) throw error;
  }
}

/** The team preset that the gateway offers. A faulty preset does not prevent joining. */
export async function findJoinPreset(team: Pick<TeamGateway, 'query'>, isManaged: boolean): Promise<JoinPreset> {
  try {
    const { preset } = await team.query({ type: 'join-preset' });
    if (preset === null) return { state: 'none' };
    return isManaged ? { state: 'managed' } : { state: 'offered', preset: checkTeamPreset(preset, 'of the gateway') };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // A gateway of an earlier version does not know the query.
    return error.code === 'invalid_command' ? { state: 'none' } : { state: 'unusable', reason: error.message };
  }
}

/** Opens the joining of team gateways. Imported with the first join. */
export function openJoining({ signIns, ...ports }: Parameters<TeamPart['openJoining']>[0]): Joining {
  return new JoinService({ ...ports, logins: signIns ? openLogins(signIns.dataDir, signIns) : rememberLogins() });
}
