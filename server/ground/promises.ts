/** A value or its promise, one thing after another, and letting the event loop turn in between. */
import { setImmediate } from 'node:timers/promises';

/**
 * A value, or a promise of one: SQLite answers synchronously, a database server does not. Code on the request path
 * awaits only actual promises, because each `await` costs a request as much as a look-up of its model.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Runs jobs one after the other, in order. A failed job does not affect the next. */
type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>;

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

let latest: Promise<void> = Promise.resolve();

/**
 * Yields to the event loop between slices of long work, which may be written as steps: a generator that yields now and then.
 *
 * Resolves in a later turn of the event loop. Only one slice runs in each turn, whatever the number of jobs, so that
 * forty long bodies delay each other but nothing else.
 */
export function yieldToEventLoop(): Promise<void> {
  latest = latest.then(() => setImmediate());
  return latest;
}

export type Steps<T> = Generator<void, T, undefined>;

/** Takes all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Shorter than a second client would notice. */
const sliceMs = 5;

/** Takes the steps in slices. */
export async function finishInSlices<T>(steps: Steps<T>): Promise<T> {
  await yieldToEventLoop();
  for (let startMs = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startMs < sliceMs) continue;
    await yieldToEventLoop();
    startMs = performance.now();
  }
}
