/**
 * Timers of background work and of requests. An exception in one is reported and does not end the process, which serves
 * requests that have nothing to do with it. Everything in `server/` uses these instead of Node's own
 * (`test/architecture.test.ts`).
 */
import { Slots } from './collections.ts';

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

// A clock that excludes the time that the machine slept. Node's clock and timers continue during sleep (except on
// Linux) or while the process is stopped. On waking, all timeouts would have expired although responses may be in
// the sockets' buffers, and latencies would include the sleep.
//
// Sleep is detected as a gap between two readings of the clock, so it ticks while an engine is running. There is one
// clock for the whole process.

const tickMs = 1_000;
/** The longest delay of a tick that does not count as sleep. */
const lateMs = 1_000;

let engines = 0;
let ticks: NodeJS.Timeout | undefined;
let lastReadMs = 0;
let sleptMs = 0;

/** Starts the detection of sleep; returns the function that stops it. */
export function startAwakeClock(): () => void {
  if (engines++ === 0) {
    lastReadMs = performance.now();
    ticks = every(readClock, tickMs).unref();
  }
  return () => {
    if (--engines === 0) clearInterval(ticks);
  };
}

/** `performance.now()` minus the time slept. */
export function awakeMs(): number {
  return readClock() - sleptMs;
}

/**
 * Like `setTimeout`, for timeouts: a sleep during the wait prolongs it, so that a timeout restarts on waking.
 *
 * Nearly every timeout is long and never expires, and each request and each piece of a stream sets or restarts one.
 * Therefore a long timeout is only an entry in a list that is checked once a second; Node's timer is set when it is
 * nearly due.
 */
export class AwakeTimer {
  readonly #expired: () => void;
  #limitMs: number;
  /** On the scale of `performance.now()`. */
  #dueMs = 0;
  /** Index among the long timers; -1 if it is not one of them. */
  #index = -1;
  #isCleared = false;
  #timer: NodeJS.Timeout | undefined;
  /** The sleep that was already compensated for. */
  #sleptMs = sleptMs;

  constructor(expired: () => void, limitMs: number) {
    this.#expired = expired;
    this.#limitMs = limitMs;
    this.#wait(limitMs);
  }

  /** Restarts the timer, with a new limit if one is given, unless it was cleared or has expired. */
  restart(limitMs = this.#limitMs): void {
    if (this.#isCleared) return;
    this.#limitMs = limitMs;
    if (this.#index !== -1 && limitMs > nearlyMs) {
      this.#dueMs = performance.now() + limitMs;
      return;
    }
    this.#stop();
    this.#wait(limitMs);
  }

  clear(): void {
    if (this.#isCleared) return;
    this.#isCleared = true;
    this.#stop();
  }

  /** Sets the Node timer if it is nearly due. */
  armIfDue(nowMs: number): void {
    if (this.#dueMs - nowMs > nearlyMs) return;
    this.#leave();
    this.#set(Math.max(0, this.#dueMs - nowMs));
  }

  #stop(): void {
    this.#leave();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #leave(): void {
    if (this.#index !== -1) longTimers.delete(this.#index);
    this.#index = -1;
  }

  #wait(durationMs: number): void {
    if (durationMs <= nearlyMs) {
      this.#set(durationMs);
      return;
    }
    this.#dueMs = performance.now() + durationMs;
    this.#index = longTimers.add(this);
    scanTimer ??= every(armDueTimers, nearlyMs / 2).unref();
  }

  #set(durationMs: number): void {
    this.#timer = after(() => this.#expire(), durationMs);
  }

  #expire(): void {
    readClock();
    const slept = sleptMs - this.#sleptMs;
    this.#sleptMs = sleptMs;
    this.#timer = undefined;
    if (slept > 0) this.#wait(Math.min(slept, this.#limitMs));
    else {
      this.#isCleared = true;
      this.#expired();
    }
  }
}

/** Timers that are not nearly due. */
const longTimers = new Slots<AwakeTimer>();
let scanTimer: NodeJS.Timeout | undefined;
/** Timers that are due within this time have a Node timer. Twice the interval between two checks. */
const nearlyMs = 2_000;

function armDueTimers(): void {
  const nowMs = performance.now();
  longTimers.forEach((timer) => {
    timer.armIfDue(nowMs);
  });
  if (longTimers.size > 0) return;
  clearInterval(scanTimer);
  scanTimer = undefined;
}

function readClock(): number {
  const nowMs = performance.now();
  const gapMs = nowMs - lastReadMs;
  if (engines > 0 && gapMs > tickMs + lateMs) sleptMs += gapMs;
  lastReadMs = nowMs;
  return nowMs;
}
