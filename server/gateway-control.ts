/**
 * The control side of a gateway, put together: configuration in force, discovery of models, admin token, commands and
 * events, and their routes. Wires and decides nothing.
 */
import { join } from 'node:path';
import type { StatusView } from './contract/views.ts';
import { type AdminToken, openAdminToken } from './control/admin-token.ts';
import { type ControlPlane, createControlPlane } from './control/control-plane.ts';
import { createLiveConfig, type LiveConfig } from './control/live-config.ts';
import { createProviderKnowledge } from './control/provider-knowledge.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { type ControlRoutes, createControlRoutes } from './http/control-routes.ts';
import { exportRequests } from './ledger/export.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createDiscovery, type Discovery } from './providers/discovery.ts';
import type { Transport } from './transport/transport.ts';

export interface ControlSidePorts {
  ports: GatewayPorts;
  ledger: Ledger;
  transport: Transport;
  /** Addresses that are Sluice itself; grows once it listens. */
  ownAddresses: ReadonlySet<string>;
  engine(): Omit<StatusEngine, 'secretStore'>;
  /** Where it listens, such as `http://127.0.0.1:4810`. Throws while it does not. */
  origin(): string;
}

type StatusEngine = Pick<StatusView, 'instanceId' | 'startedAt' | 'baseUrl' | 'secretStore' | 'version'>;

export interface ControlSide {
  live: LiveConfig;
  control: ControlPlane;
  routes: ControlRoutes;
  createAdminUrl(): string;
  /** After `ownAddresses` has grown. */
  addressChanged(): void;
  stop(): Promise<void>;
}

export async function openControlSide(side: ControlSidePorts): Promise<ControlSide> {
  const { ports, ledger, transport, ownAddresses } = side;
  const { config, env, log } = ports;
  const secrets = rememberStore(ports);
  const discovery = createDiscovery({
    transport,
    cacheFile: ports.dataDir === null ? null : join(ports.dataDir, 'models.json'),
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
    notice: ports.notice,
  });
  const admin = await openAdminToken(ports.dataDir);
  const createAdminUrl = () => windowUrl(side.origin(), admin);
  const control: ControlPlane = createControlPlane({
    ...{ config, live, ledger, env, ownAddresses, providers, createAdminUrl, log },
    openSecrets: secrets.open,
    dataFolder: ports.dataDir,
    engine: () => ({ ...side.engine(), secretStore: secrets.description() }),
  });
  keepWatching(discovery, live);
  return {
    live,
    control,
    routes: createControlRoutes({
      admin,
      control,
      exportRequests: (format, filter) => exportRequests(ledger, format, filter),
    }),
    createAdminUrl,
    addressChanged() {
      live.recompile();
      watchAll(discovery, live);
    },
    async stop() {
      await live.stop();
      await discovery.close();
    },
  };
}

/** The one-time address of the window. */
function windowUrl(origin: string, admin: AdminToken): string {
  return `${origin}/control/session?token=${admin.createTicket()}`;
}

/** Discovery follows the configuration that is in force. */
function keepWatching(discovery: Discovery, live: LiveConfig): void {
  watchAll(discovery, live);
  live.onChange(() => watchAll(discovery, live));
}

function watchAll(discovery: Discovery, live: LiveConfig): void {
  discovery.watch([...live.snapshot.providers.values()]);
}

/** The secret store, and what it said of itself if it was needed so far. */
function rememberStore({ openSecrets }: GatewayPorts) {
  let description: string | null = null;
  return {
    description: () => description,
    async open() {
      const store = await openSecrets();
      description = store.description;
      return store;
    },
  };
}

function portsOf(addresses: ReadonlySet<string>): ReadonlySet<number> {
  return new Set([...addresses].map((address) => Number(address.slice(address.lastIndexOf(':') + 1))));
}
