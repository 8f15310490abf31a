/**
 * The control side of a gateway, put together: configuration in force, discovery of models, admin token, commands and
 * events, and their routes. Wires and decides nothing.
 */
import { join } from 'node:path';
import type { AdminToken } from './control/admin-token.ts';
import { type ControlPlane, createControlPlane, type EngineStatus } from './control/control-plane.ts';
import { followTeamPresets, withoutTeam } from './control/follow-team.ts';
import { createLiveConfig, type LiveConfig } from './control/live-config.ts';
import { createProviderKnowledge } from './control/provider-knowledge.ts';
import { createTeamPresets } from './control/team-presets.ts';
import { viewNetwork } from './control/view-network.ts';
import { openWindowAccess } from './control/window-access.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { type ControlRoutes, createControlRoutes } from './http/control-routes.ts';
import { exportRequests } from './ledger/export.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createLimiter, type Limiter } from './limits/limiter.ts';
import { createDiscovery, type Discovery } from './providers/discovery.ts';
import { compileLimits } from './routing/compile-limits.ts';
import type { HealthBook } from './routing/health/health-book.ts';
import type { Target } from './routing/snapshot.ts';
import type { SecretStore } from './secrets/secret-store.ts';
import type { Authorities } from './transport/authorities.ts';
import type { Transport } from './transport/transport.ts';

interface ControlSidePorts {
  gatewayPorts: GatewayPorts;
  ledger: Ledger;
  transport: Transport;
  authorities: Authorities;
  health: HealthBook;
  /** What a usual request costs, in US dollars; null: not known. */
  usualPrice(target: Target): number | null;
  /** Addresses that are Sluice itself; grows once it listens. */
  ownAddresses: ReadonlySet<string>;
  engine(): Omit<EngineStatus, 'secretStore' | 'secretStoreKind'>;
  /** Where it listens, such as `http://127.0.0.1:4810`. Throws while it does not. */
  origin(): string;
}

export interface ControlSide {
  live: LiveConfig;
  control: ControlPlane;
  limiter: Limiter;
  routes: ControlRoutes;
  createAdminUrl(): string;
  /** After `ownAddresses` has grown. */
  addressChanged(): void;
  stop(): Promise<void>;
}

export async function openControlSide(given: ControlSidePorts): Promise<ControlSide> {
  const { gatewayPorts, ledger, transport, authorities, health, ownAddresses } = given;
  const { config, env, log } = gatewayPorts;
  const secrets = rememberStore(gatewayPorts);
  const discovery = createDiscovery({
    transport,
    cacheFile: gatewayPorts.dataDir === null ? null : join(gatewayPorts.dataDir, 'models.json'),
    log,
    onChange(providerId) {
      live.recompile();
      control.providerChanged(providerId);
    },
  });
  const providers = createProviderKnowledge({ transport, discovery, ownPorts: () => portsOf(ownAddresses) });
  const live: LiveConfig = await createLiveConfig({
    config,
    openSecrets: secrets.open,
    env,
    ownAddresses,
    discovered: discovery.models,
    log,
    notice: gatewayPorts.notice,
  });
  const limiter = createLimiter({
    history: ledger.history,
    sums: ledger.budgets,
    clocks: { wallMs: () => Date.now(), steadyMs: () => performance.now() },
    reached: (notice) => control.limitReached(notice),
    log,
  });
  live.onChange(({ before, after }) => {
    const kept = new Set(after.keys.map(({ id }) => id));
    for (const { id } of before.keys) if (!kept.has(id)) limiter.forget('key', id);
  });
  const stopRecalling = keepRecalling(limiter, live);
  const team = createTeamPresets(gatewayPorts.team ?? withoutTeam());
  // Before anyone is told of a change, so that health which it made worthless is not shown.
  health.follow(live.snapshot);
  live.onChange(() => health.follow(live.snapshot));
  const access = await openWindowAccess(gatewayPorts);
  const createAdminUrl = () => windowUrl(given.origin(), access.token);
  const control: ControlPlane = createControlPlane({
    config,
    live,
    ledger,
    limiter,
    env,
    ownAddresses,
    providers,
    team,
    health,
    createAdminUrl,
    signOutEverywhere: access.signOutEverywhere,
    log,
    usualPrice: given.usualPrice,
    openSecrets: secrets.open,
    dataFolder: gatewayPorts.dataDir,
    logFolder: gatewayPorts.logFolder ?? null,
    network: (snapshot) => viewNetwork({ transport, authorities, proxies: gatewayPorts.proxies }, snapshot),
    engine: () => ({
      ...given.engine(),
      secretStore: secrets.opened()?.description ?? null,
      secretStoreKind: secrets.opened()?.kind ?? null,
    }),
  });
  keepWatching(discovery, live);
  const stopFollowing = await followTeamPresets({ team, config, control, notice: gatewayPorts.notice, log });
  return {
    live,
    control,
    limiter,
    routes: createControlRoutes({
      access,
      control,
      exportRequests: (format, filter) => exportRequests(ledger, format, filter),
    }),
    createAdminUrl,
    addressChanged() {
      live.recompile();
      watchAll(discovery, live);
    },
    async stop() {
      stopFollowing();
      stopRecalling();
      await live.stop();
      await discovery.close();
    },
  };
}

/** The one-time address of the window. */
function windowUrl(origin: string, token: AdminToken): string {
  return `${origin}/control/session?token=${token.createTicket()}`;
}

/** Discovery follows the configuration that is in force. */
function keepWatching(discovery: Discovery, live: LiveConfig): void {
  watchAll(discovery, live);
  live.onChange(() => watchAll(discovery, live));
}

function watchAll(discovery: Discovery, live: LiveConfig): void {
  discovery.watch([...live.snapshot.providers.values()]);
}

/** Beside the requests: what each budget has spent is known to both files from the start on, and from its making on. */
function keepRecalling(limiter: Limiter, live: LiveConfig): () => void {
  let isStopped = false;
  function* limited() {
    const { groups, keys } = live.used.config;
    const all = [
      ...groups.map((group) => compileLimits('group', group)),
      ...keys.map((key) => compileLimits('key', key)),
    ];
    for (const each of all) {
      if (isStopped) return;
      if (each) yield each;
    }
  }
  void limiter.recall(limited());
  live.onChange(() => void limiter.recall(limited()));
  return () => {
    isStopped = true;
  };
}

/** The secret store, and what it said of itself if it was needed so far. */
function rememberStore({ openSecrets }: GatewayPorts) {
  let opened: SecretStore | null = null;
  return {
    opened: () => opened,
    async open() {
      opened = await openSecrets();
      return opened;
    },
  };
}

function portsOf(addresses: ReadonlySet<string>): ReadonlySet<number> {
  return new Set([...addresses].map((address) => Number(address.slice(address.lastIndexOf(':') + 1))));
}
