/**
 * The door to the engine: `createGateway(ports)` puts the parts together, for the terminal, the desktop and tests alike.
 * It wires and decides nothing.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { GatewayError } from './contract/errors.ts';
import type { EventMessage } from './contract/events.ts';
import type { AnswerQuery } from './control/answer-query.ts';
import type { Execute } from './control/execute.ts';
import { openDatabase } from './database.ts';
import { describeFileProblem } from './file-problem.ts';
import { type ControlSide, openControlSide } from './gateway-control.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { createListener } from './http/app.ts';
import type { InferencePorts } from './http/inference.ts';
import { type ListeningServer, listen } from './http/server.ts';
import { createJobStore } from './jobs/job-store.ts';
import { createLedger } from './ledger/ledger.ts';
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
  /** The machine slept, or is in another network: connections that were kept open lead nowhere now. */
  networkChanged(): void;
  /** An address that opens the window in a browser, once. It is a secret. Throws while the gateway does not listen. */
  createAdminUrl(): string;
}

const defaultDrainMs = 10_000;

export async function createGateway(ports: GatewayPorts): Promise<Gateway> {
  const instanceId = randomUUID();
  const startedAt = Date.now();
  const base = openFoundations(ports);
  const ownAddresses = new Set<string>();
  let server: ListeningServer | undefined;
  const origin = () => {
    if (!server) throw new GatewayError('shutting_down', 'Sluice does not listen, so it has no address.');
    return originOf(server);
  };
  const side = await openControlSide({
    ports,
    ...base,
    ownAddresses,
    engine: () => ({ version, instanceId, startedAt, baseUrl: server ? `${origin()}/v1` : null }),
    origin,
  });
  const { live, control } = side;
  const listener = createListener({
    snapshot: () => live.snapshot,
    control: side.routes.router,
    windowFolder: ports.windowFolder,
    health: () => ({ instance: instanceId }),
    inference: inferencePorts(ports, base, side),
  });
  const stop = async (drainMs: number) => {
    side.routes.close();
    await server?.stop(drainMs);
    await side.stop();
    await base.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    instanceId,
    snapshot: () => live.snapshot,
    execute: control.execute,
    query: control.query,
    onEvent: control.onEvent,
    createAdminUrl: side.createAdminUrl,
    networkChanged: base.transport.leaveConnections,
    async start() {
      const { host, port } = { ...ports.config.current.config.settings, ...ports.listen };
      server = await listen(listener, { host, port });
      ownAddresses.add(`127.0.0.1:${server.port}`);
      side.addressChanged();
      return { host, port: server.port };
    },
    stop(drainMs = defaultDrainMs) {
      stopped ??= stop(drainMs);
      return stopped;
    },
  };
}

type Foundations = ReturnType<typeof openFoundations>;

/** What everything else stands on: the way out, and what is durable. */
function openFoundations({ config, dataDir, log, proxies }: GatewayPorts) {
  const settings = () => config.current.config.settings;
  const transport = createTransport({ proxies, extraCa: readCaFiles(settings().extraCaFiles, log) });
  const database = openDatabase(dataDir === null ? ':memory:' : join(dataDir, 'ledger.sqlite'));
  if (database.notice) log.error(database.notice, 'the ledger could not be used; it was set aside and a new one begun');
  const ledger = createLedger({
    database,
    log,
    settings: () => {
      const { ledger: kept, capture } = settings();
      return { ...kept, captureMaxBytes: capture.maxBytes, captureRetentionDays: capture.retentionDays };
    },
  });
  const jobs = createJobStore({ database, log });
  return {
    transport,
    ledger,
    jobs,
    async close() {
      await transport.close();
      jobs.close();
      ledger.close();
      database.close();
    },
  };
}

function inferencePorts(
  { log, logRequest, uploadFolder }: GatewayPorts,
  base: Foundations,
  { live, control }: ControlSide,
): InferencePorts {
  const { transport, jobs, ledger } = base;
  let prices = createPriceTable(live.used.config.settings.prices);
  live.onChange(({ after }) => {
    prices = createPriceTable(after.settings.prices);
  });
  return {
    snapshot: () => live.snapshot,
    transport,
    jobs,
    uploadFolder,
    started(request) {
      ledger.started(request);
      control.requestStarted(request);
    },
    finished(record) {
      ledger.finished(record);
      control.requestFinished(record);
      logRequest(record);
    },
    capture: (id, bodies) => ledger.capture(id, bodies),
    priceOf: (provider, model, usage) => prices.cost(provider, model, usage),
    faulted: (error) => log.error({ error }, 'a request failed inside Sluice'),
  };
}

/** Where this machine reaches it: one that listens everywhere is reached by loopback. */
function originOf({ host, port }: ListeningServer): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** A file that is gone must not keep Sluice from starting; whoever needs it is told by TLS, with the issuer's name. */
function readCaFiles(paths: readonly string[], log: Logger): string[] {
  return paths.flatMap((path) => {
    try {
      return [readFileSync(path, 'utf8')];
    } catch (error) {
      log.warn({ path, reason: describeFileProblem(error) }, 'a file of certificate authorities cannot be read');
      return [];
    }
  });
}
