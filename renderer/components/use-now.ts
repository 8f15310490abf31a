import { useSyncExternalStore } from 'react';

/** One clock for the whole window: everything that shows an age moves on together, and one timer runs for all. */
const tickMs = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    now = Date.now();
    timer = setInterval(tick, tickMs);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

/** What `see` makes of the present, in Unix milliseconds; draws anew only when that changes. */
export function useNow<Seen extends string | number | boolean>(see: (now: number) => Seen): Seen {
  return useSyncExternalStore(listen, () => see(now));
}
