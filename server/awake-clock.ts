/**
 * Time in which the program was awake. Node's own clock and timers go on while the machine sleeps (not on Linux) or the
 * program is stopped: at the moment of waking every limit of what was under way would have run out, although the replies
 * may lie in the sockets' buffers, and targets would be measured by the sleep.
 *
 * A sleep is a gap between two looks at the clock; so that there are looks, it ticks while an engine runs. It is one for
 * the whole process, as is the clock that it corrects.
 */

const tickMs = 1_000;
/** What a busy machine, or work of our own, may hold up a tick. */
const lateMs = 1_000;

let engines = 0;
let ticks: NodeJS.Timeout | undefined;
let lookedAtMs = 0;
let sleptMs = 0;

/** Without it no sleep is noticed. Returns what ends it. */
export function startAwakeClock(): () => void {
  if (engines++ === 0) {
    lookedAtMs = performance.now();
    ticks = setInterval(look, tickMs).unref();
  }
  return () => {
    if (--engines === 0) clearInterval(ticks);
  };
}

/** As `performance.now()`, less what was slept through. */
export function awakeMs(): number {
  return look() - sleptMs;
}

/**
 * As `setTimeout`, for limits of patience: what was slept through meanwhile is waited once more, up to the limit, so that
 * one that a sleep ran into begins anew with the waking.
 */
export class AwakeTimer {
  readonly #expired: () => void;
  readonly #limitMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** Of the sleep that has been made up for. */
  #sleptMs = sleptMs;
  #isOvertime = false;

  constructor(expired: () => void, limitMs: number) {
    this.#expired = expired;
    this.#limitMs = limitMs;
    this.#wait(limitMs);
  }

  /** Begins anew, unless it was cleared. */
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
