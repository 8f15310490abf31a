/**
 * Who listens to what Sluice tells. Owns the order and the numbers of messages; must not know what they are sent over.
 * While nobody listens, telling costs one comparison.
 */
import type { ControlEvent, EventMessage } from '../contract/events.ts';

export type EventListener = (message: EventMessage) => void;

interface EventHub {
  readonly isHeard: boolean;
  /** Calls with a snapshot first and then with everything that is told; returns how to stop that. */
  subscribe(listener: EventListener): () => void;
  /** Lists whose making costs something are best made only if `isHeard`. */
  tell(event: ControlEvent): void;
}

interface EventHubPorts {
  /** Everything as it is now. */
  takeSnapshot(): Promise<ControlEvent>;
  /** Told when the first begins to listen; returns what ends with the last. */
  whileHeard(): () => void;
  log: { error(fields: object, message: string): void };
}

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
   * What happens while the snapshot is taken waits for it. The snapshot may hold some of that already: an event says how
   * something is, so hearing it once more changes nothing.
   */
  function subscribe(listener: EventListener): () => void {
    const waiting: EventMessage[] = [];
    let hear: EventListener = (message) => waiting.push(message);
    const relay: EventListener = (message) => hear(message);
    const snapshotRevision = revision;
    if (listeners.size === 0) stopHearing = whileHeard();
    listeners.add(relay);
    const begin = async () => {
      const event = await takeSnapshot();
      if (!listeners.has(relay)) return;
      hear = listener;
      deliver(listener, { revision: snapshotRevision, event });
      for (const message of waiting) if (listeners.has(relay)) deliver(listener, message);
    };
    begin().catch((error: unknown) => log.error({ error }, 'a listener to events got no snapshot'));
    return () => {
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
