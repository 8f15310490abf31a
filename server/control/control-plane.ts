/**
 * The control plane: commands, questions and events, free of HTTP and IPC, which are thin skins over it. It owns how a
 * change is carried out and what is told of it; it must not know who asked, nor how a request is served.
 */
import type { Logger } from 'pino';
import type { ConfigStore } from '../config/config-store.ts';
import type { ConfigViews, ControlEvent } from '../contract/events.ts';
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { LimitReached } from '../contract/limits.ts';
import type { LedgerHealthView, StandstillView, StatusView } from '../contract/status-views.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Limiter } from '../limits/limiter.ts';
import { explainOrder } from '../routing/health/explain-order.ts';
import type { HealthBook } from '../routing/health/health-book.ts';
import { createKeySecret } from '../routing/key-secret.ts';
import type { Target } from '../routing/snapshot.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { type AnswerQuery, createAnswerQuery, type QueryPorts } from './answer-query.ts';
import type { ChangeContext } from './change.ts';
import { createEventHub, type EventListener } from './event-hub.ts';
import { createExecute, type Execute } from './execute.ts';
import { createHealthTeller } from './health-teller.ts';
import type { ConfigInForce, LiveConfig } from './live-config.ts';
import type { ProviderKnowledge } from './provider-knowledge.ts';
import { storeChange } from './store-change.ts';
import type { TeamPresets } from './team-presets.ts';
import { createHealthViews } from './view-health.ts';
import { createViews, type EngineState } from './views.ts';
import { watchLimitUse } from './watch-limit-use.ts';
import { recentRefusals, watchRefusals } from './watch-refusals.ts';

/** All of the status that the control plane does not know itself. */
export type EngineStatus = Pick<
  StatusView,
  'instanceId' | 'startedAt' | 'baseUrl' | 'secretStore' | 'secretStoreKind' | 'version'
>;

interface ControlPorts {
  config: ConfigStore;
  live: LiveConfig;
  ledger: Ledger;
  limiter: Limiter;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  providers: ProviderKnowledge;
  team: TeamPresets;
  health: HealthBook;
  /** What a usual request costs, in US dollars; null: not known. */
  usualPrice(target: Target): number | null;
  /** Null: nothing is kept. */
  dataFolder: string | null;
  logFolder: string | null;
  network: QueryPorts['network'];
  engine(): EngineStatus;
  createAdminUrl(): string;
  /** Resolves with the number of browsers. */
  signOutEverywhere(): Promise<number>;
  log: Logger;
}

export interface ControlPlane {
  execute: Execute;
  query: AnswerQuery;
  /** A snapshot first, then what changes; returns how to stop that. */
  onEvent(listener: EventListener): () => void;
  requestStarted(request: RequestStarted): void;
  requestFinished(request: RequestRecord): void;
  /** A budget has come to 80 or 100 percent. */
  limitReached(notice: LimitReached): void;
  /**
   * Makes the configuration follow the team presets that count now. Rejects with a GatewayError if one does not fit; then
   * nothing has changed.
   */
  followTeam(): Promise<void>;
  /** The program stood still, and goes on. */
  stoodStill(standstill: Omit<StandstillView, 'count'>): void;
  /** What is known of its models has changed. */
  providerChanged(providerId: string): void;
}

/** Of the latest requests, in a snapshot. */
const shownRequests = 100;
const healthEveryMs = 2_000;

export function createControlPlane(ports: ControlPorts): ControlPlane {
  const { config, live, ledger, log } = ports;
  let standstill: StandstillView | null = null;
  const views = createViews(engineState(ports, () => standstill));
  const hub = createEventHub({
    log,
    async takeSnapshot() {
      const { requests } = await ledger.listRequests({ limit: shownRequests }).catch(() => ({ requests: [] }));
      return { type: 'snapshot', requests, ...views.all() };
    },
    whileHeard() {
      const stops = [
        watchHealth(ledger, (health) => hub.tell({ type: 'ledger-health', ledger: health })),
        watchRefusals(ledger.refusals, Date.now, (refusals) => hub.tell({ type: 'refusals', refusals })),
        watchLimitUse(views, (use) => hub.tell({ type: 'limit-use', ...use })),
      ];
      return () => {
        teller.stop();
        for (const stop of stops) stop();
      };
    },
  });
  const providerChanged = (id: string) => {
    if (!hub.isHeard) return;
    // One that was removed has been told of already, with the configuration.
    const provider = views.providers().find((each) => each.id === id);
    if (provider) hub.tell({ type: 'provider-changed', provider });
  };
  const teller = createHealthTeller(providerChanged);
  ports.health.onChange((id, isState) => {
    if (hub.isHeard) teller.changed(id, isState);
  });
  live.onChange((change) => {
    if (hub.isHeard) hub.tell(configChanged(change, views.all()));
  });
  const inTurn = createSerialQueue();
  const context = changeContext(ports);
  const teamChanged = () => hub.isHeard && hub.tell({ type: 'config-changed', status: views.all().status });
  return {
    execute: createExecute({ ...ports, views, context, inTurn, teamChanged }),
    query: createAnswerQuery({
      ...ports,
      views,
      context,
      now: Date.now,
      explainOrder: (targets, strategy) =>
        explainOrder(targets, { health: ports.health, usualPrice: ports.usualPrice, strategy, wallMs: Date.now() }),
    }),
    followTeam: () =>
      inTurn(async () => {
        const { config: current, revision } = config.current;
        const due = config.readOnly ? null : ports.team.due(current);
        if (due) await storeChange(ports, due, revision);
        teamChanged();
      }),
    onEvent: hub.subscribe,
    requestStarted(request) {
      if (hub.isHeard) hub.tell({ type: 'request-started', request });
    },
    requestFinished(request) {
      if (hub.isHeard) hub.tell({ type: 'request-finished', request });
    },
    limitReached(notice) {
      log.info(notice, 'a budget is reached');
      hub.tell({ type: 'limit-reached', notice });
    },
    stoodStill(latest) {
      log.error(latest, 'the program stood still: nobody was served meanwhile');
      standstill = { ...latest, count: (standstill?.count ?? 0) + 1 };
      hub.tell({ type: 'standstill', standstill });
    },
    providerChanged,
  };
}

function changeContext({ config, env, ownAddresses, providers }: ControlPorts): ChangeContext {
  return {
    now: Date.now,
    createKeySecret,
    // The port it will have from the next start on is its own too.
    get ownAddresses() {
      return new Set([...ownAddresses, `127.0.0.1:${config.current.config.settings.port}`]);
    },
    preset: providers.preset,
    variable: (name) => env[name],
  };
}

function engineState(ports: ControlPorts, standstill: () => StandstillView | null): EngineState {
  const { config, live, ledger, limiter, providers, team, health, engine } = ports;
  return {
    config: () => live.used.config,
    snapshot: () => live.snapshot,
    demo: () => live.demo,
    hasSecret: (name) => live.hasSecret(name),
    discovery: providers.discovery,
    health: createHealthViews(health, Date.now),
    lastUsed: () => ledger.lastUsed(),
    meters: (limited) => limiter.meters(limited),
    refusals: () => recentRefusals(ledger.refusals, Date.now()),
    status: () => ({
      ...engine(),
      pid: process.pid,
      revision: live.used.revision,
      readOnly: config.readOnly,
      configReplaced: config.replaced,
      settings: live.used.config.settings,
      demoIsRunning: live.demo !== null,
      ledger: ledger.health(),
      standstill: standstill(),
      team: { presets: team.views(), locks: team.locks(live.used.config) },
    }),
  };
}

/** The lists that changed. Providers go along always: few, and their state follows from more than their configuration. */
function configChanged({ before, after }: ConfigInForce, all: ConfigViews): ControlEvent {
  const isSame = (part: 'keys' | 'groups' | 'aliases') => JSON.stringify(before[part]) === JSON.stringify(after[part]);
  const keysAreSame = isSame('keys');
  return {
    type: 'config-changed',
    status: all.status,
    providers: all.providers,
    ...(!keysAreSame && { keys: all.keys }),
    // Groups show how many keys they have.
    ...((!keysAreSame || !isSame('groups')) && { groups: all.groups }),
    ...(!isSame('aliases') && { aliases: all.aliases }),
  };
}

/** Tells of each change; returns how to stop. */
function watchHealth(ledger: Pick<Ledger, 'health'>, tell: (health: LedgerHealthView) => void): () => void {
  const essence = ({ pending: _, ...health }: LedgerHealthView) => JSON.stringify(health);
  let last = essence(ledger.health());
  const timer = setInterval(() => {
    const health = ledger.health();
    if (essence(health) === last) return;
    last = essence(health);
    tell(health);
  }, healthEveryMs).unref();
  return () => clearInterval(timer);
}
