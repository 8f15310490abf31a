import { setTimeout } from 'node:timers/promises';

/**
 * For a promise that a test starts now and awaits later. If the test fails in between, the promise may reject during
 * the clean-up. That rejection then does not count as a failure of its own, but is still passed to code that awaits the
 * promise.
 */
export function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

type Sought<T> = T | null | false;

/**
 * Resolves with the result of `look` as soon as it is neither null nor false. Fails after half a minute, which is how
 * long a busy machine may take to start a program.
 */
export async function eventually<T>(look: () => Promise<Sought<T>> | Sought<T>): Promise<T> {
  const deadlineMs = performance.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== false) return found;
    if (performance.now() > deadlineMs) throw new Error(`It did not come about within half a minute: ${look}`);
    await setTimeout(5);
  }
}
