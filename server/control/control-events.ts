/** The events of the control plane about configuration, health, limits and the ledger. */
import type { Logger } from 'pino';
import type { Config } from '../contract/config.ts';
import type { ControlEvent, EventMessage } from '../contract/events.ts';
import { maxReported } from '../contract/find.ts';
import type { Person } from '../contract/people.ts';
import type { RefusalView } from '../contract/request-views.ts';
import type { LedgerHealthView } from '../contract/status-views.ts';
import { hourMs, minuteMs } from '../contract/units.ts';
import { after, every } from '../ground/timers.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import type { ConfigInForce, LiveConfig } from './live/live-config.ts';
import { type EventSources, type People, whereSignedIn } from './people/people.ts';
import { keyCounts, type Views } from './views/views.ts';

interface EventPorts {
  ledger: Ledger;
  live: LiveConfig;
  health: HealthTracker;
  log: Logger;
}

/** The number of latest requests in a snapshot. */
const shownRequests = 100;

/** Creates the event hub, with the events of configuration and health. Nothing is computed without a listener. */
export function createControlEvents({ ledger, live, health, log }: EventPorts, views: Views) {
  const hub = createEventHub({
    log,
    async takeSnapshot() {
      const { requests } = await ledger.listRequests({ limit: shownRequests }).catch(() => ({ requests: [] }));
      return { type: 'snapshot', requests, ...views.all() };
    },
    whileListening() {
      const stops = [
        watchValue({ everyMs: 2_000, read: () => ledger.health(), fingerprint: withoutCounts }, (value) =>
          hub.emit({ type: 'ledger-health', ledger: value }),
        ),
        watchValue({ everyMs: 2_000, read: () => refusalsVersion(ledger) }, () =>
          hub.emit({ type: 'refusals', refusals: recentRefusals(ledger) }),
        ),
        watchLimitUse(views, (use) => hub.emit({ type: 'limit-use', ...use })),
      ];
      return () => {
        healthEvents.stop();
        for (const stop of stops) stop();
      };
    },
  });
  const providerChanged = (id: string) => {
    if (!hub.hasListeners) return;
    // The removal of a provider was already reported with the configuration.
    const provider = views.providers().find((each) => each.id === id);
    if (provider) hub.emit({ type: 'provider-changed', provider });
  };
  const healthEvents = createHealthEvents(providerChanged);
  health.onChange((id, isState) => {
    if (hub.hasListeners) healthEvents.changed(id, isState);
  });
  live.onChange((change) => {
    if (hub.hasListeners) hub.emit(configChanged(change, views));
  });
  return { hub, providerChanged };
}

/**
 * Contains only the lists that changed, but always the providers, whose state depends on more than their own entries.
 */
function configChanged({ before, after }: ConfigInForce, views: Views): ControlEvent {
  const isSame = (part: 'keys' | 'groups' | 'aliases') => haveSameEntries(before[part], after[part]);
  const isToldSame = (part: 'keys' | 'groups') =>
    haveSameEntries(before[part].slice(0, maxReported), after[part].slice(0, maxReported));
  const keysAreSame = isSame('keys');
  const groups = isToldSame('groups') ? { groupCount: after.groups.length } : views.reportedGroups();
  return {
    type: 'config-changed',
    status: views.status(),
    providers: views.providers(),
    ...(!keysAreSame && (isToldSame('keys') ? { keyCount: after.keys.length } : views.reportedKeys())),
    ...(!isSame('groups') && groups),
    ...(!keysAreSame && !('groups' in groups) && { groupKeyCounts: changedKeyCounts(before.keys, after.keys) }),
    ...(!isSame('aliases') && { aliases: views.aliases() }),
  };
}

/** By group, for groups that gained or lost keys. */
function changedKeyCounts(before: Config['keys'], after: Config['keys']): Record<string, number> {
  const [old, now] = [keyCounts(before), keyCounts(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((id) => old.get(id) !== now.get(id));
  return Object.fromEntries(changed.map((id) => [id, now.get(id) ?? 0]));
}

/** Compares by identity first: unchanged entries are mostly the same objects, and there may be very many. */
function haveSameEntries(before: readonly object[], after: readonly object[]): boolean {
  if (before.length !== after.length) return false;
  return before.every((entry, index) => {
    const now = after[index];
    return entry === now || JSON.stringify(entry) === JSON.stringify(now);
  });
}

/** Without what changes all the time. */
function withoutCounts({ pending: _, capturedBytes: _bytes, ...health }: LedgerHealthView): string {
  return JSON.stringify(health);
}

/** Refusals of the last hour. */
export function recentRefusals({ refusals }: Pick<Ledger, 'refusals'>): RefusalView[] {
  return refusals.since(Date.now() - hourMs);
}

/** Changes with each refusal, and every minute, because refusals leave the last hour. */
function refusalsVersion({ refusals }: Pick<Ledger, 'refusals'>): string {
  return `${refusals.count} ${Math.floor(Date.now() / minuteMs)}`;
}

interface Watched<Value> {
  everyMs: number;
  read(): Value;
  /** Values with equal texts are considered equal. Absent: their JSON is used. */
  fingerprint?(value: Value): string;
}

/** Polls a value and reports it whenever it has changed. Returns the function that stops polling. */
function watchValue<Value>(watched: Watched<Value>, emit: (value: Value) => void): () => void {
  const { everyMs, read, fingerprint = JSON.stringify } = watched;
  let last = fingerprint(read());
  const timer = every(() => {
    const value = read();
    const text = fingerprint(value);
    if (text === last) return;
    last = text;
    emit(value);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

type LimitUse = Omit<Extract<ControlEvent, { type: 'limit-use' }>, 'type'>;

const everyMs = 1_000;
/** With more keys and groups than this, each is checked less often than once a second. */
const checksPerSecond = 500;

/** Reports changes in the use of limits, checking keys and groups in turn. Returns the function that stops it. */
function watchLimitUse(views: Pick<Views, 'limited' | 'meters'>, emit: (use: LimitUse) => void): () => void {
  let position = 0;
  /** The last use by key or group, as JSON: of the previous round and of the current one. */
  let before = new Map<string, string>();
  let current = new Map<string, string>();
  const changedMeters = (): LimitUse => {
    const changed: LimitUse = { keys: {}, groups: {} };
    const all = views.limited();
    for (const subject of all.slice(position, position + checksPerSecond)) {
      const meters = views.meters(subject);
      const name = `${subject.scope} ${subject.id}`;
      const text = JSON.stringify(meters);
      if (text !== before.get(name)) changed[`${subject.scope}s`][subject.id] = meters;
      current.set(name, text);
    }
    position += checksPerSecond;
    if (position >= all.length) {
      position = 0;
      before = current;
      current = new Map();
    }
    return changed;
  };
  // The initial state is in the snapshot.
  changedMeters();
  const timer = every(() => {
    const changed = changedMeters();
    if (Object.keys(changed.keys).length + Object.keys(changed.groups).length > 0) emit(changed);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

const stateMs = 300;
/** Delay after new measurements, which arrive with each request. */
const measurementMs = 5_000;

interface HealthEvents {
  changed(providerId: string, isState: boolean): void;
  stop(): void;
}

/** Reports changes of a provider's health at a limited rate; the final state is always reported. */
export function createHealthEvents(emit: (providerId: string) => void): HealthEvents {
  const waiting = new Map<string, { timer: NodeJS.Timeout; isState: boolean }>();
  return {
    changed(providerId, isState) {
      const before = waiting.get(providerId);
      if (before && (before.isState || !isState)) return;
      clearTimeout(before?.timer);
      const timer = after(
        () => {
          waiting.delete(providerId);
          emit(providerId);
        },
        isState ? stateMs : measurementMs,
      ).unref();
      waiting.set(providerId, { timer, isState });
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}

export type EventListener = (message: EventMessage) => void;

export interface EventHub {
  readonly hasListeners: boolean;
  /** Calls the listener with a snapshot, then with every event. Returns the unsubscribe function. */
  subscribe(listener: EventListener): () => void;
  /** Compute expensive events only if `hasListeners`. */
  emit(event: ControlEvent): void;
}

interface EventHubPorts {
  /** The complete present state. */
  takeSnapshot(): Promise<ControlEvent>;
  /** Called with the first listener; returns a function to call after the last one has left. */
  whileListening(): () => void;
  log: { error(fields: object, message: string): void };
}

const retryMs = 5_000;
const ignore = () => {};

/** Distributes events to listeners, numbered and in order. Without listeners, `emit` costs one comparison. */
export function createEventHub({ takeSnapshot, whileListening, log }: EventHubPorts): EventHub {
  const listeners = new Set<EventListener>();
  let revision = 0;
  let stopListening: (() => void) | undefined;

  const deliver = (listener: EventListener, message: EventMessage) => {
    try {
      listener(message);
    } catch (error) {
      log.error({ error }, 'a listener to events failed');
    }
  };

  /**
   * Events that occur while the snapshot is taken are delivered after it. The snapshot may already contain their
   * effects. Because events state the result, repeating them does no harm. If there is no snapshot, there is
   * nothing for events to follow, so it is taken again after a while.
   */
  function subscribe(listener: EventListener): () => void {
    let receive: EventListener = ignore;
    let retry: NodeJS.Timeout | undefined;
    const relay: EventListener = (message) => receive(message);
    const begin = async () => {
      const waiting: EventMessage[] = [];
      receive = (message) => waiting.push(message);
      const snapshotRevision = revision;
      const event = await takeSnapshot();
      if (!listeners.has(relay)) return;
      receive = listener;
      deliver(listener, { revision: snapshotRevision, event });
      for (const message of waiting) if (listeners.has(relay)) deliver(listener, message);
    };
    const failed = (error: unknown) => {
      log.error({ error }, 'a listener to events got no snapshot');
      receive = ignore;
      if (listeners.has(relay)) retry = after(() => begin().catch(failed), retryMs).unref();
    };
    if (listeners.size === 0) stopListening = whileListening();
    listeners.add(relay);
    begin().catch(failed);
    return () => {
      clearTimeout(retry);
      if (!listeners.delete(relay) || listeners.size > 0) return;
      stopListening?.();
    };
  }

  return {
    get hasListeners() {
      return listeners.size > 0;
    },
    subscribe,
    emit(event) {
      if (listeners.size === 0) return;
      revision++;
      for (const listener of [...listeners]) deliver(listener, { revision, event });
    },
  };
}

interface ListenerPorts extends EventSources {
  people: People | null;
}

/** @param person null for the administrator of this machine */
export function listenerFor(person: Person | null, ports: ListenerPorts, listener: EventListener): EventListener {
  const toAdministrator: EventListener = ({ revision, event }) =>
    listener({ revision, event: withReportedLimits(event, ports.config()) });
  if (!person) return toAdministrator;
  return whereSignedIn(ports.people).listener(person, ports, person.isAdmin ? toAdministrator : listener);
}

/** Keeps only the limits of the reported keys and groups, since an administrator's window has no others. */
function withReportedLimits(event: ControlEvent, { keys, groups }: Pick<Config, 'keys' | 'groups'>): ControlEvent {
  if (event.type !== 'limit-use') return event;
  return { ...event, keys: ofFirst(keys, event.keys), groups: ofFirst(groups, event.groups) };
}

function ofFirst<Value>(
  list: readonly { id: string }[],
  entries: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const reported = new Set(list.slice(0, maxReported).map(({ id }) => id));
  return Object.fromEntries(Object.entries(entries).filter(([id]) => reported.has(id)));
}
