/** Distributes events to listeners, numbered and in order. Without listeners, `emit` costs one comparison. */

import type { Config } from '../contract/config.ts';
import type { ControlEvent, EventMessage } from '../contract/events.ts';
import { maxReported } from '../contract/find.ts';
import type { Person } from '../contract/people.ts';
import { after } from '../ground/timers.ts';
import { type EventSources, type People, whereSignedIn } from './people/people.ts';

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
