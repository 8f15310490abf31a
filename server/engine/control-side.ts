/**
 * Assembles the control side of a gateway: live configuration, model discovery, limits, control plane and its routes.
 */
import { join } from 'node:path';
import { baseUrlAt, isLoopback, reachableOrigin } from '../contract/address.ts';
import { GatewayError } from '../contract/errors.ts';
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { StatusView } from '../contract/status-views.ts';
import type { AdminToken } from '../control/admin-token.ts';
import { createTeamPresets } from '../control/changes/team-presets.ts';
import { type ControlPlane, createControlPlane, type EngineStatus } from '../control/control-plane.ts';
import { exportLedger } from '../control/export-ledger.ts';
import { followTeamPresets, withoutTeam } from '../control/follow-team.ts';
import type { OpenJoining } from '../control/joining.ts';
import { createLiveConfig, type LiveConfig } from '../control/live/live-config.ts';
import { createProviderKnowledge } from '../control/live/provider-knowledge.ts';
import { checkScope, type People, whereSignedIn } from '../control/people/people.ts';
import { viewNetwork } from '../control/views/views.ts';
import { openWindowAccess } from '../control/window-access.ts';
import { type ControlRoutes, createControlRoutes } from '../http/control-routes.ts';
import type { ListeningServer } from '../http/server.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Observability } from '../observability/observability.ts';
import { createDiscovery, type Discovery, type DiscoveryState } from '../providers/discovery.ts';
import type { Upstream } from '../providers/upstream.ts';
import { hostAndPort } from '../routing/compile.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { createFetch } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import type { Foundations } from './foundations.ts';
import { openLimits } from './limits.ts';
import type { GatewayPorts, TeamPorts } from './ports.ts';
import type { PeoplePorts, PeopleSide } from './team.ts';

interface ControlSidePorts {
  gatewayPorts: GatewayPorts;
  base: Foundations;
  observability: Observability;
  address: GatewayAddress;
  engine(): Omit<EngineStatus, 'secretStore' | 'secretStoreKind' | 'givenAddress'>;
}

export interface ControlSide {
  live: LiveConfig;
  control: ControlPlane;
  limiter: Limiter;
  /** Null if limits are not counted together with other replicas. */
  sharedCounts(): SharedCountsView | null;
  routes: ControlRoutes;
  createAdminUrl(): string;
  /** The gateway listens. */
  addressChanged(): void;
  stop(): Promise<void>;
}

export async function openControlSide(ports: ControlSidePorts): Promise<ControlSide> {
  const { gatewayPorts, base, address } = ports;
  const { ledger, transport, authorities, sessions } = base;
  const { config, env, folders, teams = {}, logging } = gatewayPorts;
  const { log } = logging;
  const secrets = rememberStore(gatewayPorts);
  const { live, discovery, providers } = await openLiveConfig(ports, secrets.open);
  const team = createTeamPresets(teams.team ?? withoutTeam());
  const access = await openWindowAccess({ ...folders, ...teams, log });
  const createAdminUrl = () => (teams.people ? address.origin() : windowUrl(address.origin(), access.token));
  const side = await openPeopleSide(gatewayPorts, live, {
    openSecrets: secrets.open,
    transport,
    adminToken: access.token,
    audited: (entry) => ports.observability.audited(entry),
  });
  const people = side?.people ?? null;
  const limits = await openLimits(gatewayPorts, { ...base, live, keyOwners: side?.keyOwners ?? null });
  const control = createControlPlane({
    ...{ config, live, ledger, providers, team },
    limits: { limiter: limits.limiter, sharedCounts: limits.view },
    routing: base,
    held: { ...base, sessionStopChanged: sessions.setStopped },
    access: {
      ...{ people, createAdminUrl },
      signOutEverywhere: people?.endBrowserSessions ?? access.signOutEverywhere,
      openJoining: openJoiningOf(teams, transport),
    },
    machine: {
      ...{ env, log },
      ownAddresses: address.own,
      openSecrets: secrets.open,
      dataFolder: folders.dataDir,
      logFolder: folders.logFolder ?? null,
      isLaptop: () => !base.isShared && teams.people === undefined && isLoopback(hostOf(gatewayPorts, live)),
      network: (snapshot) => viewNetwork({ transport, authorities, proxies: gatewayPorts.proxies }, snapshot),
    },
    engine: () => ({ ...ports.engine(), ...secrets.view(), givenAddress: givenAddress(gatewayPorts) }),
  });
  side?.onLeft(revokeBy(control, config));
  sessions.onBudgetReached(control.sessionBudgetReached);
  limits.onReached(control.limitReached);
  limits.onChange(control.statusChanged);
  discovery.onChange(control.providerChanged);
  keepWatching(discovery, live);
  const stopFollowing = await followTeamPresets({ team, config, control, notice: logging.notice, log });
  return {
    live,
    control,
    limiter: limits.limiter,
    sharedCounts: limits.view,
    routes: createControlRoutes({
      access,
      control,
      exportRequests: exporterOf(base, live, people),
      observability: ports.observability,
      people: side?.door ?? null,
    }),
    createAdminUrl,
    addressChanged: () => useAddress(discovery, live),
    async stop() {
      stopFollowing();
      await limits.close();
      await live.stop();
      await discovery.close();
      await side?.close();
    },
  };
}

const revokeBy = ({ execute }: ControlPlane, config: GatewayPorts['config']): Parameters<PeopleSide['onLeft']>[0] =>
  async function revoke(id, keys) {
    if (keys === 'keep') return [];
    if (config.readOnly)
      return config.current.config.keys.filter(({ owner, enabled }) => owner === id && enabled).map((key) => key.id);
    await execute({ type: 'person.revoke', id, keys });
    return [];
  };

/** Null if people do not sign in. Rejects with an Error that names a proxy that is not an address. */
async function openPeopleSide(
  { teams = {}, folders: { dataDir }, env, logging: { log } }: GatewayPorts,
  live: LiveConfig,
  ports: Pick<PeoplePorts, 'openSecrets' | 'audited'> & { transport: Transport; adminToken: AdminToken },
): Promise<PeopleSide | null> {
  const { people: options, loadTeam } = teams;
  if (!options) return null;
  if (!loadTeam) throw new Error('Nobody can sign in to this build of Sluice: it has no part for teams.');
  const { openPeople } = await loadTeam();
  return openPeople({
    ...{ options, dataDir, env, log },
    ...{ openSecrets: ports.openSecrets, audited: ports.audited },
    fetch: createFetch(ports.transport),
    settings: () => live.snapshot.settings.people,
    adminToken: ports.adminToken,
  });
}

function openJoiningOf({ loadTeam, signIns }: TeamPorts, transport: Transport): OpenJoining {
  if (!loadTeam) return null;
  return async (ports) =>
    (await loadTeam()).openJoining({ ...ports, fetch: createFetch(transport), signIns: signIns ?? null });
}

/** Exports the part of the ledger that the caller may see. */
function exporterOf(
  searched: Parameters<typeof exportLedger>[0],
  live: LiveConfig,
  people: People | null,
): Parameters<typeof createControlRoutes>[0]['exportRequests'] {
  return (format, parameters, by) => {
    if (by) checkScope(by, 'read');
    const within = by && whereSignedIn(people).within(by.person, live.used.config);
    return exportLedger(searched, format, { parameters, within });
  };
}

/** The configuration in force with the discovered models. Health follows its changes. */
async function openLiveConfig(
  { gatewayPorts, base, address }: ControlSidePorts,
  openSecrets: () => Promise<SecretStore>,
) {
  const { config, env, teams } = gatewayPorts;
  const { log, notice } = gatewayPorts.logging;
  const { dataDir } = gatewayPorts.folders;
  const { transport, health, prices } = base;
  const ownAddresses = address.own;
  const cacheFile = dataDir === null ? null : join(dataDir, 'models.json');
  const asked = (upstream: Upstream, state: DiscoveryState) => noteList(health, upstream, state);
  const discovery = createDiscovery({ transport, cacheFile, log, asked });
  const providers = createProviderKnowledge({ transport, discovery, ownPorts: () => portsOf(ownAddresses), prices });
  const discovered = discovery.models;
  const live: LiveConfig = await createLiveConfig({
    ...{ config, openSecrets, env, ownAddresses, discovered, log, notice },
    publicOrigin: teams?.people?.publicOrigin,
  });
  discovery.onChange(() => live.recompile());
  // The control plane listens after this, so that its events show the health after a change.
  health.follow(live.snapshot);
  live.onChange(() => health.follow(live.snapshot));
  return { live, discovery, providers };
}

/** Whether the provider could be reached, and whether it took the credential, says its answer to the question for its models. */
function noteList(health: HealthTracker, { id, credentials }: Upstream, { finding, fault }: DiscoveryState): void {
  const isRefused = credentials.length > 0 && finding?.code === 'answered' && finding.status === 401;
  if (fault !== null) health.listUnanswered(id, { failure: 'transient', failedWith: fault });
  else if (isRefused) health.listUnanswered(id, { failure: 'credential', failedWith: finding.status });
  else if (finding?.code !== 'way-failed') health.listAnswered(id);
}

function hostOf({ listen }: GatewayPorts, { snapshot }: LiveConfig): string {
  return listen?.host ?? snapshot.settings.host;
}

function givenAddress({ listen = {} }: GatewayPorts): StatusView['givenAddress'] {
  return (['host', 'port'] as const).filter((name) => listen[name] !== undefined);
}

/** A single-use address of the window. */
function windowUrl(origin: string, token: AdminToken): string {
  return `${origin}/control/session?token=${token.createTicket()}`;
}

/** Keeps discovery in line with the configuration in force. */
function keepWatching(discovery: Discovery, live: LiveConfig): void {
  watchAll(discovery, live);
  live.onChange(() => watchAll(discovery, live));
}

function useAddress(discovery: Discovery, live: LiveConfig): void {
  live.recompile();
  watchAll(discovery, live);
}

function watchAll(discovery: Discovery, live: LiveConfig): void {
  discovery.watch([...live.snapshot.providers.values()]);
}

/** Opens the secret store and remembers it, so that the status can show its kind. */
function rememberStore({ openSecrets }: GatewayPorts) {
  let opened: SecretStore | null = null;
  return {
    view: () => ({ secretStore: opened?.description ?? null, secretStoreKind: opened?.kind ?? null }),
    async open() {
      opened = await openSecrets();
      return opened;
    },
  };
}

function portsOf(addresses: ReadonlySet<string>): ReadonlySet<number> {
  return new Set([...addresses].map((address) => Number(address.slice(address.lastIndexOf(':') + 1))));
}

// Where a gateway listens, and where people and programs reach it.

/** Before it listens it has no address, and what asks for one throws. */
export class GatewayAddress {
  /** Hosts with ports at which a provider would be Sluice itself. */
  readonly own = new Set<string>();
  readonly #publicOrigin: string | undefined;
  #server: ListeningServer | null = null;

  constructor(people: TeamPorts['people']) {
    this.#publicOrigin = people?.publicOrigin;
  }

  /** Null before it listens. */
  get server(): ListeningServer | null {
    return this.#server;
  }

  listens(server: ListeningServer): void {
    this.#server = server;
    this.own.add(`127.0.0.1:${server.port}`);
    this.own.add(hostAndPort(new URL(this.origin())));
  }

  origin(): string {
    const local = this.#local();
    return this.#publicOrigin ?? local;
  }

  baseUrl(): string {
    return baseUrlAt(this.origin());
  }

  view(): { baseUrl: string | null; listensAt: string | null } {
    return this.#server ? { baseUrl: this.baseUrl(), listensAt: this.#local() } : { baseUrl: null, listensAt: null };
  }

  #local(): string {
    if (this.#server === null) throw new GatewayError('shutting_down', 'Sluice does not listen, so it has no address.');
    return reachableOrigin(this.#server);
  }
}
