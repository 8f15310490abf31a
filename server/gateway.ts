/**
 * The door to the engine: `createGateway(ports)` puts the parts together, for the terminal, the desktop and tests alike.
 * It wires and decides nothing.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningDemo, startDemo, wantsDemo } from './control/demo-provider.ts';
import { readSecretValues } from './control/secret-values.ts';
import { openDatabase } from './database.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { createListener } from './http/app.ts';
import { type ListeningServer, listen } from './http/server.ts';
import { createJobStore } from './jobs/job-store.ts';
import { createLedger } from './ledger/ledger.ts';
import { compileSnapshot } from './routing/compile.ts';
import type { Snapshot } from './routing/snapshot.ts';
import { createTransport } from './transport/transport.ts';
import { createPriceTable, type PriceTable } from './usage/price-table.ts';

export interface Gateway {
  /** Changes with each start; `/healthz` tells it. */
  readonly instanceId: string;
  snapshot(): Snapshot;
  /** Listens. Rejects with the system's error if the port is taken. */
  start(): Promise<{ host: string; port: number }>;
  /** Lets requests end for at most `drainMs`, then closes everything. */
  stop(drainMs?: number): Promise<void>;
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
  let server: ListeningServer | undefined;
  let demo: RunningDemo | null = null;
  let prices: PriceTable;
  let snapshot: Snapshot;
  let secrets = new Map<string, string>();

  const compile = () => {
    const { config: current, revision } = config.current;
    prices = createPriceTable(current.settings.prices);
    snapshot = compileSnapshot({
      config: current,
      revision,
      secrets: new Map([...secrets, ...(demo?.secrets ?? [])]),
      discovered: new Map(),
      demo: demo?.provider ?? null,
      ownAddresses,
    });
  };
  const reload = async () => {
    const { config: current } = config.current;
    const missing = (name: string, reason: string) => log.warn({ name, reason }, 'a secret is missing');
    secrets = await readSecretValues(current, { openSecrets: ports.openSecrets, env: ports.env, missing });
    if (wantsDemo(current)) demo ??= await startDemo();
    else {
      await demo?.stop();
      demo = null;
    }
    compile();
  };
  await reload();
  const stopListening = config.onChange(
    () => void reload().catch((error) => log.error({ error }, 'the new configuration could not be used')),
  );

  const listener = createListener({
    snapshot: () => snapshot,
    control: null,
    windowFolder: ports.windowFolder,
    health: () => ({ instance: instanceId }),
    inference: {
      snapshot: () => snapshot,
      transport,
      jobs,
      uploadFolder: ports.uploadFolder,
      started: ledger.started,
      finished: ledger.finished,
      capture: ledger.capture,
      priceOf: (provider, model, usage) => prices.cost(provider, model, usage),
      faulted: (error) => log.error({ error }, 'a request failed inside Sluice'),
    },
  });

  return {
    instanceId,
    snapshot: () => snapshot,
    async start() {
      const { host, port } = { ...settings(), ...ports.listen };
      server = await listen(listener, { host, port });
      ownAddresses.add(`127.0.0.1:${server.port}`);
      compile();
      return { host, port: server.port };
    },
    async stop(drainMs = defaultDrainMs) {
      stopListening();
      await server?.stop(drainMs);
      await demo?.stop();
      await transport.close();
      jobs.close();
      ledger.close();
      database.close();
    },
  };
}

function readCaFiles(paths: readonly string[]): string[] {
  return paths.map((path) => readFileSync(path, 'utf8'));
}
