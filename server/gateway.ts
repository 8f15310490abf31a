/**
 * The door to the engine: `createGateway(ports)` puts the parts together, for the terminal, the desktop and tests alike.
 * It wires and decides nothing.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from './contract/errors.ts';
import type { EventMessage } from './contract/events.ts';
import { openAdminToken } from './control/admin-token.ts';
import type { AnswerQuery } from './control/answer-query.ts';
import { createControlPlane } from './control/control-plane.ts';
import type { Execute } from './control/execute.ts';
import { createLiveConfig } from './control/live-config.ts';
import { createProviderKnowledge } from './control/provider-knowledge.ts';
import { openDatabase } from './database.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { createListener } from './http/app.ts';
import { createControlRoutes } from './http/control-routes.ts';
import { type ListeningServer, listen } from './http/server.ts';
import { createJobStore } from './jobs/job-store.ts';
import { exportRequests } from './ledger/export.ts';
import { createLedger } from './ledger/ledger.ts';
import { logRequest } from './log.ts';
import type { Snapshot } from './routing/snapshot.ts';
import { createTransport } from './transport/transport.ts';
import { createPriceTable } from './usage/price-table.ts';
import { version } from './version.ts';

export interface Gateway {
  /** Changes with each start; `/healthz` tells it. */
  readonly instanceId: string;
  snapshot(): Snapshot;
  /** Listens. Rejects with the system's error if the port is taken. */
  start(): Promise<{ host: string; port: number }>;
  /** Lets requests end for at most `drainMs`, then closes everything. Once: a second call waits for the first. */
  stop(drainMs?: number): Promise<void>;
  /** Carries out a command of `contract/commands.ts`. */
  execute: Execute;
  /** Answers a question of `contract/queries.ts`. */
  query: AnswerQuery;
  /** Calls with a snapshot first, then with what changes (`contract/events.ts`); returns how to stop that. */
  onEvent(listener: (message: EventMessage) => void): () => void;
  /** An address that opens the window in a browser, once. It is a secret. Throws while the gateway does not listen. */
  createAdminUrl(): string;
}

const defaultDrainMs = 10_000;

export async function createGateway(ports: GatewayPorts): Promise<Gateway> {
  const { config, log } = ports;
  const instanceId = randomUUID();
  const settings = () => config.current.config.settings;
  const transport = createTransport({ proxies: ports.proxies, extraCa: readCaFiles(settings().extraCaFiles) });
  const database = openDatabase(ports.dataDir === null ? ':memory:' : join(ports.dataDir, 'ledger.sqlite'));
  const ledger = createLedger({
    database,
    log,
    settings: () => {
      const { ledger: kept, capture } = settings();
      return { ...kept, captureMaxBytes: capture.maxBytes, captureRetentionDays: capture.retentionDays };
    },
  });
  const jobs = createJobStore({ database, log });
  const ownAddresses = new Set<string>();
  const startedAt = Date.now();
  let server: ListeningServer | undefined;
  let secretStore: string | null = null;
  const openSecrets = async () => {
    const store = await ports.openSecrets();
    secretStore = store.description;
    return store;
  };
  const admin = await openAdminToken(ports.dataDir);
  const providers = createProviderKnowledge({ transport, log });
  const live = await createLiveConfig({
    config,
    openSecrets,
    env: ports.env,
    ownAddresses,
    discovered: providers.discovered,
    log,
  });
  let prices = createPriceTable(settings().prices);
  live.onChange(({ after }) => {
    prices = createPriceTable(after.settings.prices);
  });
  const createAdminUrl = () => {
    if (!server) throw new GatewayError('shutting_down', 'Sluice does not listen, so its window has no address.');
    return `${originOf(server)}/control/session?token=${admin.createTicket()}`;
  };
  const control = createControlPlane({
    config,
    live,
    ledger,
    openSecrets,
    env: ports.env,
    ownAddresses,
    providers,
    engine: () => ({ version, instanceId, startedAt, baseUrl: server ? `${originOf(server)}/v1` : null, secretStore }),
    createAdminUrl,
    log,
  });
  const controlRoutes = createControlRoutes({
    admin,
    control,
    exportRequests: (format, filter) => exportRequests(ledger, format, filter),
  });

  const listener = createListener({
    snapshot: () => live.snapshot,
    control: controlRoutes.router,
    windowFolder: ports.windowFolder,
    health: () => ({ instance: instanceId }),
    inference: {
      snapshot: () => live.snapshot,
      transport,
      jobs,
      uploadFolder: ports.uploadFolder,
      started(request) {
        ledger.started(request);
        control.requestStarted(request);
      },
      finished(record) {
        ledger.finished(record);
        control.requestFinished(record);
        logRequest(log, record);
      },
      capture: (id, bodies) => ledger.capture(id, bodies),
      priceOf: (provider, model, usage) => prices.cost(provider, model, usage),
      faulted: (error) => log.error({ error }, 'a request failed inside Sluice'),
    },
  });

  const stop = async (drainMs: number) => {
    controlRoutes.close();
    await server?.stop(drainMs);
    await live.stop();
    await transport.close();
    jobs.close();
    ledger.close();
    database.close();
  };
  let stopped: Promise<void> | undefined;

  return {
    instanceId,
    snapshot: () => live.snapshot,
    execute: control.execute,
    query: control.query,
    onEvent: control.onEvent,
    createAdminUrl,
    async start() {
      const { host, port } = { ...settings(), ...ports.listen };
      server = await listen(listener, { host, port });
      ownAddresses.add(`127.0.0.1:${server.port}`);
      live.recompile();
      return { host, port: server.port };
    },
    stop(drainMs = defaultDrainMs) {
      stopped ??= stop(drainMs);
      return stopped;
    },
  };
}

/** Where this machine reaches it: one that listens everywhere is reached by loopback. */
function originOf({ host, port }: ListeningServer): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

function readCaFiles(paths: readonly string[]): string[] {
  return paths.map((path) => readFileSync(path, 'utf8'));
}
