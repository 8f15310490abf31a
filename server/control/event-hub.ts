/** Distributes events to listeners, numbered and in order. Without listeners, `tell` costs one comparison. */
import type { ControlEvent, EventMessage } from '../contract/events.ts';

export type EventListener = (message: EventMessage) => void;

export interface EventHub {
  readonly isHeard: boolean;
  /** Calls the listener with a snapshot, then with every event. Returns how to unsubscribe. */
  subscribe(listener: EventListener): () => void;
  /** Compute expensive events only if `isHeard`. */
  tell(event: ControlEvent): void;
}

interface EventHubPorts {
  /** The complete present state. */
  takeSnapshot(): Promise<ControlEvent>;
  /** Called with the first listener; returns what to call after the last. */
  whileHeard(): () => void;
  log: { error(fields: object, message: string): void };
}

const retryMs = 5_000;
const ignore = () => {};

export function createEventHub({ takeSnapshot, whileHeard, log }: EventHubPorts): EventHub {
  const listeners = new Set<EventListener>();
  let revision = 0;
  let stopHearing: (() => void) | undefined;

  const deliver = (listener: EventListener, message: EventMessage) => {
    try {
      listener(message);
    } catch (error) {
      log.error({ error }, 'a listener to events failed');
    }
  };

  /**
   * Events that occur while the snapshot is taken are delivered after it. The snapshot may contain their effects already;
   * since events state the result, repeating them does no harm. Without a snapshot there is nothing that they could follow:
   * it is taken again after a while.
   */
  function subscribe(listener: EventListener): () => void {
    let hear: EventListener = ignore;
    let retry: NodeJS.Timeout | undefined;
    const relay: EventListener = (message) => hear(message);
    const begin = async () => {
      const waiting: EventMessage[] = [];
      hear = (message) => waiting.push(message);
      const snapshotRevision = revision;
      const event = await takeSnapshot();
      if (!listeners.has(relay)) return;
      hear = listener;
      deliver(listener, { revision: snapshotRevision, event });
      for (const message of waiting) if (listeners.has(relay)) deliver(listener, message);
    };
    const failed = (error: unknown) => {
      log.error({ error }, 'a listener to events got no snapshot');
      hear = ignore;
      if (listeners.has(relay)) retry = setTimeout(() => void begin().catch(failed), retryMs).unref();
    };
    if (listeners.size === 0) stopHearing = whileHeard();
    listeners.add(relay);
    begin().catch(failed);
    return () => {
      clearTimeout(retry);
      if (!listeners.delete(relay) || listeners.size > 0) return;
      stopHearing?.();
    };
  }

  return {
    get isHeard() {
      return listeners.size > 0;
    },
    subscribe,
    tell(event) {
      if (listeners.size === 0) return;
      revision++;
      for (const listener of [...listeners]) deliver(listener, { revision, event });
    },
  };
}
