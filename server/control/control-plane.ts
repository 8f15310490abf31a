/**
 * The control plane: commands, questions and events, free of HTTP and IPC, which are thin skins over it. It owns how a
 * change is carried out and what is told of it; it must not know who asked, nor how a request is served.
 */
import type { Logger } from 'pino';
import type { ConfigStore } from '../config/config-store.ts';
import type { ConfigViews, ControlEvent } from '../contract/events.ts';
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { StatusView } from '../contract/views.ts';
import type { Ledger, LedgerHealth } from '../ledger/ledger.ts';
import { createKeySecret } from '../routing/key-secret.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { type AnswerQuery, createAnswerQuery } from './answer-query.ts';
import { createEventHub, type EventListener } from './event-hub.ts';
import { createExecute, type Execute } from './execute.ts';
import type { ConfigInForce, LiveConfig } from './live-config.ts';
import type { ProviderKnowledge } from './provider-knowledge.ts';
import { createViews, type EngineState } from './views.ts';

export interface ControlPorts {
  config: ConfigStore;
  live: LiveConfig;
  ledger: Ledger;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  providers: ProviderKnowledge;
  /** Null: nothing is kept. */
  dataFolder: string | null;
  /** All of the status that the control plane does not know itself. */
  engine(): Pick<StatusView, 'instanceId' | 'startedAt' | 'baseUrl' | 'secretStore' | 'version'>;
  createAdminUrl(): string;
  log: Logger;
}

export interface ControlPlane {
  execute: Execute;
  query: AnswerQuery;
  /** A snapshot first, then what changes; returns how to stop that. */
  onEvent(listener: EventListener): () => void;
  requestStarted(request: RequestStarted): void;
  requestFinished(request: RequestRecord): void;
  /** What is known of its models has changed. */
  providerChanged(providerId: string): void;
}

/** Of the latest requests, in a snapshot. */
const shownRequests = 100;
const healthEveryMs = 2_000;

export function createControlPlane(ports: ControlPorts): ControlPlane {
  const { config, live, ledger, log, providers } = ports;
  const views = createViews(engineState(ports));
  const hub = createEventHub({
    log,
    async takeSnapshot() {
      const { requests } = await ledger.listRequests({ limit: shownRequests }).catch(() => ({ requests: [] }));
      return { type: 'snapshot', requests, ...views.all() };
    },
    whileHeard: () => watchHealth(ledger, (health) => hub.tell({ type: 'ledger-health', ledger: health })),
  });
  live.onChange((change) => {
    if (hub.isHeard) hub.tell(configChanged(change, views.all()));
  });
  return {
    execute: createExecute({
      ...ports,
      views,
      context: {
        now: Date.now,
        createKeySecret,
        // The port it will have from the next start on is its own too.
        get ownAddresses() {
          return new Set([...ports.ownAddresses, `127.0.0.1:${config.current.config.settings.port}`]);
        },
        preset: providers.preset,
      },
    }),
    query: createAnswerQuery({
      live,
      views,
      ledger,
      now: Date.now,
      providers,
      dataFolder: ports.dataFolder,
    }),
    onEvent: hub.subscribe,
    requestStarted(request) {
      if (hub.isHeard) hub.tell({ type: 'request-started', request });
    },
    requestFinished(request) {
      if (hub.isHeard) hub.tell({ type: 'request-finished', request });
    },
    providerChanged(id) {
      if (!hub.isHeard) return;
      // One that was removed has been told of already, with the configuration.
      const provider = views.providers().find((each) => each.id === id);
      if (provider) hub.tell({ type: 'provider-changed', provider });
    },
  };
}

function engineState({ config, live, ledger, providers, engine }: ControlPorts): EngineState {
  return {
    config: () => live.used.config,
    snapshot: () => live.snapshot,
    demo: () => live.demo,
    hasSecret: (name) => live.hasSecret(name),
    discovery: providers.discovery,
    lastUsed: () => ledger.lastUsed(),
    status: () => ({
      ...engine(),
      pid: process.pid,
      revision: live.used.revision,
      readOnly: config.readOnly,
      settings: live.used.config.settings,
      demoIsRunning: live.demo !== null,
      ledger: ledger.health(),
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
function watchHealth(ledger: Pick<Ledger, 'health'>, tell: (health: LedgerHealth) => void): () => void {
  const essence = ({ ok, dropped, lastError }: LedgerHealth) => `${ok} ${dropped} ${lastError}`;
  let last = essence(ledger.health());
  const timer = setInterval(() => {
    const health = ledger.health();
    if (essence(health) === last) return;
    last = essence(health);
    tell(health);
  }, healthEveryMs).unref();
  return () => clearInterval(timer);
}
