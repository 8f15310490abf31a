/** Turns at the event loop, for long work that is done in slices. */
import { setImmediate } from 'node:timers/promises';

let latest: Promise<void> = Promise.resolve();

/**
 * Resolves once everything else that waits had its turn. One slice runs in each turn of the loop, however many pieces of
 * work there are: forty long bodies at once make each other wait, and nobody else.
 */
export function nextTurn(): Promise<void> {
  latest = latest.then(() => setImmediate());
  return latest;
}
