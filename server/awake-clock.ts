/**
 * Time in which the program was awake. Node's own clock and timers go on while the machine sleeps (not on Linux) or the
 * program is stopped: at the moment of waking every limit of what was under way would have run out, although the replies
 * may lie in the sockets' buffers, and targets would be measured by the sleep.
 *
 * A sleep is a gap between two looks at the clock; so that there are looks, it ticks while an engine runs. It is one for
 * the whole process, as is the clock that it corrects.
 */
import { Slots } from './slots.ts';

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
 *
 * Nearly every limit is long and never runs out, and each request and each piece of a stream sets or refreshes one. So a
 * long one only has a place in a list that is gone through once a second; the timer proper is set when it is nearly due.
 */
export class AwakeTimer {
  readonly #expired: () => void;
  readonly #limitMs: number;
  /** By `performance.now()`. */
  #dueMs = 0;
  /** Among those that have long to go; -1: it is none of them. */
  #place = -1;
  #isCleared = false;
  #timer: NodeJS.Timeout | undefined;
  /** Of the sleep that has been made up for. */
  #sleptMs = sleptMs;

  constructor(expired: () => void, limitMs: number) {
    this.#expired = expired;
    this.#limitMs = limitMs;
    this.#wait(limitMs);
  }

  /** Begins anew, unless it was cleared or has run out. */
  refresh(): void {
    if (this.#isCleared) return;
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#wait(this.#limitMs);
    } else this.#dueMs = performance.now() + this.#limitMs;
  }

  clear(): void {
    if (this.#isCleared) return;
    this.#isCleared = true;
    this.#leave();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Sets the timer proper if it is nearly due. */
  lookAt(nowMs: number): void {
    if (this.#dueMs - nowMs > nearlyMs) return;
    this.#leave();
    this.#set(Math.max(0, this.#dueMs - nowMs));
  }

  #leave(): void {
    if (this.#place !== -1) patient.delete(this.#place);
    this.#place = -1;
  }

  #wait(durationMs: number): void {
    if (durationMs <= nearlyMs) {
      this.#set(durationMs);
      return;
    }
    this.#dueMs = performance.now() + durationMs;
    this.#place = patient.add(this);
    looks ??= setInterval(lookAtPatient, nearlyMs / 2).unref();
  }

  #set(durationMs: number): void {
    this.#timer = setTimeout(() => this.#expire(), durationMs);
  }

  #expire(): void {
    look();
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

/** Timers that have long to go. */
const patient = new Slots<AwakeTimer>();
let looks: NodeJS.Timeout | undefined;
/** What has less to go has a timer of its own; twice the time between two looks. */
const nearlyMs = 2_000;

function lookAtPatient(): void {
  const nowMs = performance.now();
  patient.forEach((timer) => timer.lookAt(nowMs));
  if (!patient.isEmpty) return;
  clearInterval(looks);
  looks = undefined;
}

function look(): number {
  const nowMs = performance.now();
  const gapMs = nowMs - lookedAtMs;
  if (engines > 0 && gapMs > tickMs + lateMs) sleptMs += gapMs;
  lookedAtMs = nowMs;
  return nowMs;
}
