/** The control plane: commands, queries and events, independent of HTTP and IPC, which are thin layers over it. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { baseUrlOf } from '../contract/address.ts';
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { LimitReached } from '../contract/limits.ts';
import { findLocks } from '../contract/lock.ts';
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { SessionBudgetReached } from '../contract/session-views.ts';
import type { StandstillView, StatusView } from '../contract/status-views.ts';
import type { RecentCaptures, WaitingCaptures } from '../exchange/capture/capture-companion.ts';
import { FaultSwitch } from '../faults/fault-switch.ts';
import { createSerialQueue } from '../ground/promises.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PriceTable } from '../models/price-table.ts';
import { explainOrder } from '../routing/explain/explain-route.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { ToldLimits } from '../routing/health/told-limits.ts';
import { createKeySecret } from '../routing/key-secret.ts';
import type { Target } from '../routing/snapshot.ts';
import { CaptureSwitch } from '../store/rules/capture-switch.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import { type ChangeContext, onLatestRevision, storeChange } from './changes/change.ts';
import type { CassetteControl } from './changes/check-cassette.ts';
import { createConnectClients } from './changes/connect-clients.ts';
import type { TeamPresets } from './changes/team-presets.ts';
import {
  createControlEvents,
  type EventHub,
  type EventListener,
  listenerFor,
  recentRefusals,
} from './control-events.ts';
import { type ControlAccess, createExecute, type Execute } from './execute.ts';
import type { ControlledMachine, LiveConfig } from './live/live-config.ts';
import type { ProviderKnowledge } from './live/provider-knowledge.ts';
import type { Caller } from './people/people.ts';
import type { PriceRenewal } from './prices/price-renewal.ts';
import { type AnswerQuery, createAnswerQuery } from './queries/answer-query.ts';
import { createHealthViews } from './views/view-health.ts';
import { createViews, type EngineState } from './views/views.ts';

/** The parts of the status that the gateway supplies. */
export type EngineStatus = Pick<
  StatusView,
  'instanceId' | 'startedAt' | 'baseUrl' | 'listensAt' | 'givenAddress' | 'secretStore' | 'secretStoreKind' | 'version'
>;

interface ControlPorts {
  config: ConfigStore;
  live: LiveConfig;
  ledger: Ledger;
  providers: ProviderKnowledge;
  team: TeamPresets;
  limits: {
    limiter: Limiter;
    /** Null if limits are not counted together with other replicas. */
    sharedCounts(): SharedCountsView | null;
  };
  routing: {
    health: HealthTracker;
    toldLimits: ToldLimits;
    prices: Pick<PriceTable, 'tokenPrice' | 'applied' | 'cost'>;
    renewal: PriceRenewal;
    /** The price of a typical request in US dollars; null if unknown. */
    typicalPrice(target: Target): number | null;
  };
  held: HeldOfRequests;
  access: ControlAccess;
  machine: ControlledMachine;
  engine(): EngineStatus;
}

/** What is held of requests beside the ledger. */
interface HeldOfRequests {
  cache: AnswerCache;
  cassettes: CassetteControl;
  captures: Pick<WaitingCaptures, 'ready'>;
  recentCaptures: Pick<RecentCaptures, 'find' | 'isDisplaced' | 'ids' | 'search' | 'clear'>;
  /** A session was stopped (its requests are refused from now on) or resumed. */
  sessionStopChanged(id: string, isStopped: boolean): void;
}

export interface ControlPlane {
  execute: Execute;
  query: AnswerQuery;
  /**
   * Calls the listener with a snapshot, then with changes; with `by`, only with what this person may see. Returns the
   * unsubscribe function.
   */
  onEvent(listener: EventListener, by?: Caller): () => void;
  requestStarted(request: RequestStarted): void;
  requestFinished(request: RequestRecord): void;
  /** A budget has reached 80 or 100 percent. */
  limitReached(notice: LimitReached): void;
  /** A session has reached an amount of its budget. */
  sessionBudgetReached(notice: SessionBudgetReached): void;
  updateReady(version: string): void;
  /**
   * Applies the team presets in force to the configuration. If one does not fit, rejects with a GatewayError and
   * changes nothing.
   */
  followTeam(): Promise<void>;
  /** The event loop was blocked and is running again. */
  reportStandstill(standstill: Omit<StandstillView, 'count'>): void;
  /** The status has changed without a command. */
  statusChanged(): void;
  /** The provider's discovered models have changed. */
  providerChanged(providerId: string): void;
  readonly captureSwitch: CaptureSwitch;
  readonly faults: FaultSwitch;
}

export function createControlPlane(ports: ControlPorts): ControlPlane {
  const { config, live, ledger, routing, held, access, machine } = ports;
  const { log } = machine;
  let standstill: StandstillView | null = null;
  const captureSwitch = createCaptureSwitch(ports);
  const faults = new FaultSwitch();
  const switches = { capture: captureSwitch, faults };
  const state = engineState(ports, switches, () => standstill);
  const views = createViews(state);
  const { hub, providerChanged } = createControlEvents({ ledger, live, health: routing.health, log }, views);
  const inTurn = createSerialQueue();
  const context = changeContext(ports);
  const clients = createConnectClients({ config, ...machine, baseUrl: () => baseUrlOf(views.status()), now: Date.now });
  routing.renewal.onChange(() => statusChanged());
  const statusChanged = () => {
    if (hub.hasListeners) hub.emit({ type: 'config-changed', status: views.status() });
  };
  ledger.pins.onChange((change) => {
    if (hub.hasListeners) hub.emit({ type: 'pin-changed', ...change });
  });
  captureSwitch.onChange(statusChanged);
  faults.onChange(statusChanged);
  return {
    execute: createExecute({
      ...{ ...ports, views, context, clients },
      held: {
        ...{ ...held, captureSwitch, faults, health: routing.health, renewal: routing.renewal },
        sessions: { ledger, changed: held.sessionStopChanged },
      },
      turns: { inTurn, teamChanged: statusChanged },
    }),
    query: createAnswerQuery({
      ...{ ...ports, views, context, clients },
      people: access.people,
      now: Date.now,
      routing: {
        ...routing,
        explainOrder: (targets, strategy) => explainOrder(targets, { ...routing, strategy, wallMs: Date.now() }),
        modelFacts: {
          price: ({ provider, model }) => (model === null ? null : routing.prices.tokenPrice(provider.id, model)),
          health: ({ provider, model }) => state.health.model(provider, model),
        },
      },
    }),
    followTeam: () =>
      inTurn(async () => {
        await onLatestRevision(async () => {
          const { config: current, revision } = config.current;
          const due = config.readOnly ? null : ports.team.due(current);
          if (due) await storeChange({ ...ports, ...machine }, due, revision);
        });
        statusChanged();
      }),
    onEvent: (listener, by) =>
      hub.subscribe(
        listenerFor(
          by?.person ?? null,
          { people: access.people, config: () => live.used.config, reported: views },
          listener,
        ),
      ),
    ...createNotifiers(hub, log),
    reportStandstill(latest) {
      log.error(latest, 'the event loop was blocked: no request was served meanwhile');
      standstill = { ...latest, count: (standstill?.count ?? 0) + 1 };
      hub.emit({ type: 'standstill', standstill });
    },
    statusChanged,
    providerChanged,
    captureSwitch,
    faults,
  };
}

type Notifiers = Pick<
  ControlPlane,
  'requestStarted' | 'requestFinished' | 'limitReached' | 'sessionBudgetReached' | 'updateReady'
>;

/** Events from other parts of the program. */
function createNotifiers(hub: EventHub, log: Logger): Notifiers {
  return {
    requestStarted(request) {
      if (hub.hasListeners) hub.emit({ type: 'request-started', request });
    },
    requestFinished(request) {
      if (hub.hasListeners) hub.emit({ type: 'request-finished', request });
    },
    limitReached(notice) {
      log.info(notice, 'a budget is reached');
      hub.emit({ type: 'limit-reached', notice });
    },
    sessionBudgetReached(notice) {
      log.info(notice, 'a session has reached an amount of its budget');
      hub.emit({ type: 'session-budget-reached', notice });
    },
    updateReady: (version) => hub.emit({ type: 'update-ready', version }),
  };
}

function changeContext({ config, machine, providers, team }: ControlPorts): ChangeContext {
  const { env, ownAddresses } = machine;
  return {
    now: Date.now,
    createKeySecret,
    createKeyId: () => `key-${randomBytes(6).toString('hex')}`,
    by: null,
    // Includes the port that takes effect at the next start.
    get ownAddresses() {
      return new Set([...ownAddresses, `127.0.0.1:${config.current.config.settings.port}`]);
    },
    preset: providers.preset,
    presets: providers.presets,
    variable: (name) => env[name],
    imported: () => team.memory.current,
  };
}

function createCaptureSwitch(ports: ControlPorts): CaptureSwitch {
  const { live, team, held } = ports;
  // What was kept goes as soon as nothing is kept any more.
  live.onChange(() => {
    if (recentCaptureOf(ports) === null) held.recentCaptures.clear();
  });
  return new CaptureSwitch({
    isLocked: (id) => findLocks(team.locks(live.used.config)).changing('groups', id, 'capture') !== null,
    keepsRecent: () => recentCaptureOf(ports) !== null,
  });
}

function recentCaptureOf({ live, machine }: Pick<ControlPorts, 'live' | 'machine'>): StatusView['recentCapture'] {
  const { recent } = live.snapshot.settings.capture;
  return recent === 'off' || !machine.isLaptop() ? null : recent;
}

function engineState(
  ports: ControlPorts,
  { capture, faults }: { capture: CaptureSwitch; faults: FaultSwitch },
  standstill: () => StandstillView | null,
): EngineState {
  const { config, live, ledger, limits, routing, providers, team, engine } = ports;
  return {
    config: () => live.used.config,
    snapshot: () => live.snapshot,
    demo: () => live.demo,
    hasSecret: (name) => live.hasSecret(name),
    discovery: providers.discovery,
    health: createHealthViews(routing.health, Date.now),
    lastUsed: () => ledger.lastUsed(),
    meters: (limited) => limits.limiter.meters(limited),
    refusals: () => recentRefusals(ledger),
    status: () => ({
      person: null,
      ...engine(),
      pid: process.pid,
      revision: live.used.revision,
      readOnly: config.readOnly,
      configReplaced: config.replaced,
      removedFields: [...config.removed, ...team.removed()],
      settings: live.used.config.settings,
      currency: routing.renewal.currency(),
      demoIsRunning: live.demo !== null,
      ledger: ledger.health(),
      sharedCounts: limits.sharedCounts(),
      capture: capture.timed,
      recentCapture: recentCaptureOf(ports),
      faults: faults.timed,
      standstill: standstill(),
      team: { presets: team.views(), locks: team.locks(live.used.config) },
    }),
  };
}
