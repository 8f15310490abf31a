import { useSyncExternalStore } from 'react';

/** One clock and one timer for the whole window, so that all displayed ages advance together. */
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

/** Maps the current time, in Unix milliseconds, to a value, and re-renders only when that value changes. */
export function useNow<Seen extends string | number | boolean>(see: (now: number) => Seen): Seen {
  return useSyncExternalStore(listen, () => see(now));
}
