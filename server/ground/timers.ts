/**
 * Timers of background work and of requests. An exception in one is reported and does not end the process, which serves
 * requests that have nothing to do with it. Everything in `server/` uses these instead of Node's own
 * (`test/architecture.test.ts`).
 */

/** May return a promise, whose rejection is reported as well. */
type Work = () => unknown;

type FaultListener = (fault: unknown) => void;

const listeners = new Set<FaultListener>();

/** Called with each fault of a timer in this process, once as long as an interval repeats it. Returns the function that ends it. */
export function onTimerFault(listener: FaultListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Like `setTimeout`. */
export function after(work: Work, delayMs: number): NodeJS.Timeout {
  return setTimeout(() => runGuarded(work, onlyOnce), delayMs);
}

/** Settles as the work does, or resolves after this time, so that a hanging server does not hold up the caller. */
export function settleWithin(limitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const limit = after(resolve, limitMs);
    work.then(() => resolve(), reject).finally(() => clearTimeout(limit));
  });
}

/** Like `setInterval`. */
export function every(work: Work, periodMs: number): NodeJS.Timeout {
  const faults = new Faults();
  return setInterval(() => runGuarded(work, faults), periodMs);
}

interface Outcome {
  ended(): void;
  failed(fault: unknown): void;
}

function runGuarded(work: Work, faults: Outcome): void {
  try {
    const result = work();
    if (result instanceof Promise) result.then(faults.ended, faults.failed);
    else faults.ended();
  } catch (fault) {
    faults.failed(fault);
  }
}

const onlyOnce: Outcome = { ended: () => {}, failed: report };

/** Those of an interval, which are reported once as long as they repeat themselves. */
class Faults implements Outcome {
  #latest: string | null = null;

  readonly ended = (): void => {
    this.#latest = null;
  };

  readonly failed = (fault: unknown): void => {
    const text = String(fault);
    if (text !== this.#latest) report(fault);
    this.#latest = text;
  };
}

function report(fault: unknown): void {
  if (listeners.size === 0) process.emitWarning(fault instanceof Error ? fault : new Error(String(fault)));
  for (const listener of listeners) listener(fault);
}
