/** Yields to the event loop between slices of long work. */
import { setImmediate } from 'node:timers/promises';

let latest: Promise<void> = Promise.resolve();

/**
 * Resolves in a later turn of the event loop. Only one slice runs in each turn, whatever the number of jobs, so that
 * forty long bodies delay each other but nothing else.
 */
export function yieldToEventLoop(): Promise<void> {
  latest = latest.then(() => setImmediate());
  return latest;
}
