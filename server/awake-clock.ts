/**
 * A clock without the time that the machine slept. Node's clock and timers continue during sleep (except on Linux) or while
 * the process is stopped: on waking, all timeouts would have expired although responses may be in the sockets' buffers, and
 * latencies would include the sleep.
 *
 * Sleep is detected as a gap between two readings of the clock, so it ticks while an engine is running. There is one for the
 * whole process.
 */

const tickMs = 1_000;
/** The longest delay of a tick that is not taken for sleep. */
const lateMs = 1_000;

let engines = 0;
let ticks: NodeJS.Timeout | undefined;
let lookedAtMs = 0;
let sleptMs = 0;

/** Starts the detection of sleep; returns how to stop it. */
export function startAwakeClock(): () => void {
  if (engines++ === 0) {
    lookedAtMs = performance.now();
    ticks = setInterval(look, tickMs).unref();
  }
  return () => {
    if (--engines === 0) clearInterval(ticks);
  };
}

/** `performance.now()` minus the time slept. */
export function awakeMs(): number {
  return look() - sleptMs;
}

/** Like `setTimeout`, for timeouts: a sleep during the wait prolongs it, so that a timeout restarts on waking. */
export class AwakeTimer {
  readonly #expired: () => void;
  readonly #limitMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** The sleep that was compensated for already. */
  #sleptMs = sleptMs;
  #isOvertime = false;

  constructor(expired: () => void, limitMs: number) {
    this.#expired = expired;
    this.#limitMs = limitMs;
    this.#wait(limitMs);
  }

  /** Restarts the timer unless it was cleared. */
  refresh(): void {
    if (!this.#isOvertime) this.#timer?.refresh();
    else if (this.#timer) {
      clearTimeout(this.#timer);
      this.#isOvertime = false;
      this.#wait(this.#limitMs);
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(durationMs: number): void {
    this.#timer = setTimeout(() => this.#expire(), durationMs);
  }

  #expire(): void {
    look();
    const slept = sleptMs - this.#sleptMs;
    this.#sleptMs = sleptMs;
    this.#isOvertime = slept > 0;
    if (slept > 0) this.#wait(Math.min(slept, this.#limitMs));
    else this.#expired();
  }
}

function look(): number {
  const nowMs = performance.now();
  const gapMs = nowMs - lookedAtMs;
  if (engines > 0 && gapMs > tickMs + lateMs) sleptMs += gapMs;
  lookedAtMs = nowMs;
  return nowMs;
}
