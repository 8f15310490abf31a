/**
 * Forwards the engine's events to the pages that have subscribed. Subscriptions outlive a restart of the engine: the page
 * receives `lost` when the engine stops, and `open` and a snapshot after the next start.
 */
import type { WebContents } from 'electron';
import type { IpcMessage } from '../server/contract/ipc.ts';
import type { EngineHost } from './engine-host.ts';

export interface EventRelay {
  /** Replaces an existing subscription of the page with the same number. */
  subscribe(page: WebContents, subscription: number): void;
  unsubscribe(page: WebContents, subscription: number): void;
  /** Ends all subscriptions of a page that was closed or has loaded another document. */
  forget(page: WebContents): void;
}

export function createEventRelay(host: EngineHost, send: (page: WebContents, message: IpcMessage) => void): EventRelay {
  const subscriptions = new Map<WebContents, Map<number, () => void>>();

  const begin = (page: WebContents, subscription: number) => {
    const connection = host.gateway ? 'open' : 'lost';
    send(page, { type: 'connection', subscription, connection });
    const stop = host.gateway?.onEvent((message) => send(page, { type: 'event', subscription, message }));
    const ofPage = subscriptions.get(page) ?? new Map();
    subscriptions.set(page, ofPage.set(subscription, stop ?? (() => {})));
  };
  const unsubscribe = (page: WebContents, subscription: number) => {
    subscriptions.get(page)?.get(subscription)?.();
    subscriptions.get(page)?.delete(subscription);
  };
  host.onChange(({ kind }) => {
    if (kind === 'starting') return;
    for (const [page, ofPage] of subscriptions) {
      for (const subscription of [...ofPage.keys()]) {
        unsubscribe(page, subscription);
        begin(page, subscription);
      }
    }
  });
  return {
    subscribe(page, subscription) {
      unsubscribe(page, subscription);
      begin(page, subscription);
    },
    unsubscribe,
    forget(page) {
      for (const stop of subscriptions.get(page)?.values() ?? []) stop();
      subscriptions.delete(page);
    },
  };
}
