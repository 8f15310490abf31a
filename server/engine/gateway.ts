/** The engine's entry point: `createGateway(ports)` assembles its parts, for the terminal, the desktop and tests. */

import { randomUUID } from 'node:crypto';
import { totalmem } from 'node:os';
import { Registry, servedApis } from '../apis/registry.ts';
import type { CassetteContents } from '../contract/cassette.ts';
import type { Config } from '../contract/config.ts';
import type { EventMessage } from '../contract/events.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import { entriesNotIn } from '../contract/list-splice.ts';
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { Execute } from '../control/execute.ts';
import { exportLedger } from '../control/export-ledger.ts';
import type { ConfigInForce, LiveConfig } from '../control/live/live-config.ts';
import type { Caller } from '../control/people/people.ts';
import type { AnswerQuery } from '../control/queries/answer-query.ts';
import type { AttemptsPorts } from '../exchange/attempts/attempts.ts';
import { createCompanions } from '../exchange/companions.ts';
import type { ExchangePorts } from '../exchange/exchange.ts';
import { JobBilling, JobPoller } from '../exchange/jobs/job-billing.ts';
import { HeapShare } from '../exchange/request/outgoing-call.ts';
import { TranslationThreads } from '../exchange/translation/translation-threads.ts';
import { EventLoopMonitor } from '../ground/event-loop-monitor.ts';
import { descriptorLimit } from '../ground/resource-exhaustion.ts';
import { startAwakeClock } from '../ground/timers.ts';
import { version } from '../ground/version.ts';
import { Admission } from '../http/admission.ts';
import type { ApiPorts } from '../http/api-request.ts';
import { createListener } from '../http/app.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { keyRevoked, listen, runningWithin } from '../http/server.ts';
import { createSessionUpgrades } from '../http/session-upgrades.ts';
import { LimitRefusals } from '../limits/refusal.ts';
import type { Observability } from '../observability/observability.ts';
import { LearntRefusals } from '../providers/chat-flavours.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { BookedJob } from '../store/rules/rows.ts';
import type { ExportFormat } from '../store/sqlite/export.ts';
import type { Authorities } from '../transport/authorities.ts';
import { machineAddresses, watchNetwork } from '../transport/network-watch.ts';
import type { Transport } from '../transport/transport.ts';
import { type ControlSide, GatewayAddress, openControlSide } from './control-side.ts';
import { type Foundations, openFoundations } from './foundations.ts';
import { createObservability, followSettings } from './observability.ts';
import type { GatewayPorts } from './ports.ts';

export interface Gateway {
  /** Random at each start; `/healthz` returns it. */
  readonly instanceId: string;
  /** Starts listening. Rejects with the system's error if the port is taken. */
  start(): Promise<{ host: string; port: number }>;
  /** Prepares the end: `/readyz` answers 503, and each response closes its connection; requests are still served. */
  drain(): void;
  /** Gives running requests at most `drainMs`, then closes everything. A second call waits for the first. */
  stop(drainMs?: number): Promise<void>;
  /** Executes a command of `contract/commands.ts`. */
  execute: Execute;
  /** Answers a query of `contract/queries.ts`. */
  query: AnswerQuery;
  /**
   * The requests of a filter as text, newest first. `parameters`: the query parameters of an export's address. Throws
   * GatewayError `invalid_command`.
   */
  exportRequests(format: ExportFormat, parameters: Readonly<Record<string, string>>): AsyncIterable<string>;
  /** What a cassette holds, by a path in it; null if it is none. Not part of `/control`: it reads any folder of the host. */
  readCassette(path: string): Promise<CassetteContents | null>;
  /**
   * Calls the listener with a snapshot, then with changes (`contract/events.ts`); with `by`, only with what this person
   * may see. Returns the unsubscribe function.
   */
  onEvent(listener: (message: EventMessage) => void, by?: Caller): () => void;
  /** Reads all secrets of the configuration again, as happens whenever a file with one changes. */
  readSecrets(): Promise<void>;
  /** An update to this version has been downloaded and can be installed. */
  updateReady(version: string): void;
  /** The machine has slept, or its network has changed: pooled connections are dead and are dropped. */
  networkChanged(): void;
  /** The base URL to give to clients, wherever they run. Throws if the gateway does not listen. */
  baseUrl(): string;
  /**
   * A secret address that opens the window in a browser once; with sign-in, the public address. Throws if the gateway
   * does not listen.
   */
  createAdminUrl(): string;
}

const defaultDrainMs = 10_000;

/** Loaded on first use, as all that belongs to cassettes. */
const readCassette: Gateway['readCassette'] = async (path) =>
  (await import('../cassettes/cassette-files.ts')).readCassetteContents(path);

export async function createGateway(ports: GatewayPorts): Promise<Gateway> {
  const [instanceId, startedAt] = [randomUUID(), Date.now()];
  const address = new GatewayAddress(ports.teams?.people);
  const base = await openFoundations(ports);
  const observability = createObservability(ports, { ...base, instanceId });
  const engine = () => ({ version, instanceId, startedAt, ...address.view() });
  const side = await openControlSide({ gatewayPorts: ports, base, observability, address, engine });
  const { live, control, sharedCounts } = side;
  const { api, bills, sessions } = createServedApi(ports, base, { ...side, observability });
  await followSettings(observability, { ...base, ...side, admission: api.admission });
  const listener = createListener({
    snapshot: () => live.snapshot,
    control: side.routes,
    windowFolder: ports.folders.windowFolder,
    health: () => healthOf({ instance: instanceId, address, ...base, sharedCounts: sharedCounts() }),
    api,
  });
  const webSockets = createSessionUpgrades(sessions, (changed) => live.onChange(changed));
  live.onChange((change) => endRequestsOfRevoked(address, change));
  const poller = new JobPoller({ ...base, bills, snapshot: api.snapshot });
  const network = followNetwork(base, live);
  const stopClock = startAwakeClock();
  const stop = async (drainMs: number) => {
    network.stop();
    stopClock();
    side.routes.close();
    await address.server?.stop(drainMs);
    await poller.stop();
    await Promise.all([api.exchange.attempts.translationThreads.stop(), base.captures.settled()]);
    api.exchange.attempts.eventLoopMonitor.stop();
    await side.stop();
    await observability.close();
    await base.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    instanceId,
    execute: control.execute,
    query: control.query,
    exportRequests: (format, parameters) => exportLedger(base, format, { parameters }),
    readCassette,
    onEvent: control.onEvent,
    baseUrl: () => address.baseUrl(),
    createAdminUrl: side.createAdminUrl,
    readSecrets: live.readSecrets.bind(live),
    updateReady: control.updateReady,
    networkChanged: network.changed,
    async start() {
      const { host, port } = { ...ports.config.current.config.settings, ...ports.listen };
      const server = await listen(listener, { host, port, webSockets });
      address.listens(server);
      side.addressChanged();
      return { host, port: server.port };
    },
    drain: () => address.server?.drain(),
    stop(drainMs = defaultDrainMs) {
      stopping ??= stop(drainMs);
      return stopping;
    },
  };
}

/** Sessions over WebSockets end with their key in any case. */
function endRequestsOfRevoked({ server }: GatewayAddress, { before, after }: ConfigInForce): void {
  if (after.settings.people?.requestsOfRevokedKeys !== 'end') return;
  const works = new Set(after.keys.filter(({ enabled }) => enabled).map(({ id }) => id));
  const revoked = new Set(
    entriesNotIn(after.keys, before.keys)
      .filter(({ id, owner }) => owner !== undefined && !works.has(id))
      .map(({ id }) => id),
  );
  if (revoked.size > 0) server?.cutOff((keyId) => (keyId !== null && revoked.has(keyId) ? keyRevoked(keyId) : null));
}

interface Asked extends Pick<Foundations, 'isShared' | 'ledger'> {
  instance: string;
  address: GatewayAddress;
  sharedCounts: SharedCountsView | null;
}

/** If the store is shared between replicas, only its state is shown, because anyone may read it. */
function healthOf({ instance, address, isShared, ledger, sharedCounts }: Asked) {
  const { ok, spooled, dropped, setAside } = ledger.health();
  const ledgerState = ok && spooled === 0 ? 'ok' : 'waiting';
  return {
    ready: address.server?.isDraining === false,
    instance,
    ...(isShared && { ledger: dropped > 0 || setAside ? 'incomplete' : ledgerState }),
    ...(sharedCounts && { sharedCounts: sharedCounts.problem === null ? 'ok' : 'away' }),
  };
}

function createServedApi(
  { folders: { uploadFolder }, logging: { log, logPath, logRequest }, apis = servedApis }: GatewayPorts,
  base: Foundations,
  { live, control, limiter, observability }: ControlSide & { observability: Observability },
) {
  const { jobs, ledger, prices, cassettes } = base;
  const registry = new Registry(apis);
  const eventLoopMonitor = new EventLoopMonitor({
    logPath: logPath ?? null,
    reportStandstill: control.reportStandstill,
  });
  const reportError = (error: unknown) => log.error({ error }, 'a request failed inside Sluice');
  const finished = (ended: RequestRecord, books?: BookedJob, isOnlyCounted = false) => {
    // Limits and sessions count what the ledger will hold.
    const record = isOnlyCounted ? ledger.counted(ended) : ledger.finished(ended, books);
    limiter.finished(record);
    base.sessions.finished(record, live.snapshot.settings.sessionBudget);
    observability.finished(record);
    if (isOnlyCounted) return;
    control.requestFinished(record);
    logRequest(record);
  };
  const limitRefusals = new LimitRefusals();
  const bills = new JobBilling({ jobs, limiter, prices, finished, usageOf: (kind) => registry.usageOf(kind) });
  const { captureSwitch, faults } = control;
  const attempts = attemptPorts(base, { registry, eventLoopMonitor, reportError });
  const { translationThreads } = attempts;
  const exchange: ExchangePorts = {
    ...{ limiter, prices, jobs, attempts },
    companions: createCompanions({ ...base, captureSwitch, faults, bills, observability, translationThreads }),
    started(request, reserved) {
      ledger.started(request, reserved);
      control.requestStarted(request);
    },
    finished(record, { hasBegun, books }) {
      // A client can send any number of requests without a valid key or over its limits, so they get no rows.
      if (record.keyId === null) {
        ledger.refusals.add(record);
        return false;
      }
      const isOnlyCounted = !hasBegun && limitRefusals.isRepeated(record);
      finished(record, books, isOnlyCounted);
      return !isOnlyCounted;
    },
  };
  const snapshot = () => live.snapshot;
  const admissionSettings = () => live.snapshot.settings.admission;
  const api: ApiPorts = {
    ...{ exchange, registry, snapshot, uploadFolder, reportError },
    admission: new Admission(admissionSettings, runningWithin(descriptorLimit())),
    bytes: new ByteBudget(admissionSettings, automaticBytes(), new HeapShare()),
    summarizeUsage: (question) => ledger.summarizeUsage(question),
  };
  return { api, bills, sessions: { ...api, cassettes } };
}

function attemptPorts(
  { transport, picker, toldLimits, keptResponses, reasoning, prices }: Foundations,
  { registry, ...engine }: Pick<AttemptsPorts, 'registry' | 'eventLoopMonitor' | 'reportError'>,
): AttemptsPorts {
  return {
    ...{ transport, picker, toldLimits, registry, keptResponses, reasoning, prices, ...engine },
    learntRefusals: new LearntRefusals(),
    translationThreads: new TranslationThreads(),
  };
}

/** A quarter of the memory available to this process (or its container), at most 2 GiB. */
function automaticBytes(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(memory / 4, 2 * 1024 ** 3);
}

/** Follows changes of the machine's network. */
interface Reached {
  transport: Transport;
  health: HealthTracker;
  authorities: Authorities;
}

interface FollowedNetwork {
  /** The machine has slept, or something has changed that only the caller can notice. */
  changed(): void;
  stop(): void;
}

/** Drops connections and health when the machine's addresses, its certificates or the network settings change. */
function followNetwork({ transport, health, authorities }: Reached, live: LiveConfig): FollowedNetwork {
  const changed = () => {
    transport.leaveConnections();
    health.networkChanged();
  };
  live.onChange(({ before, after }) => {
    if (networkSettings(before) !== networkSettings(after)) changed();
  });
  const stop = watchNetwork({
    changed,
    readState: () => `${[...machineAddresses()].sort().join(' ')} ${authorities.fingerprint()}`,
  });
  return { changed, stop };
}

/** The settings that determine how providers are reached. */
function networkSettings({ settings: { systemCa, extraCaFiles, noProxy } }: Config): string {
  return JSON.stringify([systemCa, extraCaFiles, noProxy]);
}
