import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once the work is done, and after this time if it is not: a server that hangs must not hold up who waits. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const limit = sleep(limitMs, undefined, { ref: false, signal: waited.signal }).catch(() => {});
  try {
    await Promise.race([work, limit]);
  } finally {
    waited.abort();
  }
}
