import { AwakeTimer } from '../awake-clock.ts';

/** What a watch needs from its attempt. Times are in milliseconds on a clock that stops during sleep. */
interface Watched {
  limitMs: number;
  nowMs(): number;
  /** The client has stopped reading, so that no progress is possible. */
  isHeldUp(): boolean;
  expired(): void;
}

/**
 * Expires if no useful bytes arrive within the limit. Comments, empty events or single bytes keep a connection from being
 * silent, but are no progress. Each arrival only stores the time and starts no timer.
 */
export class ProgressWatch {
  /** Time of the latest progress. */
  lastMs: number;
  readonly #watched: Watched;
  #timer: AwakeTimer;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.lastMs = watched.nowMs();
    this.#timer = this.#lookIn(watched.limitMs);
  }

  clear(): void {
    this.#timer.clear();
  }

  #lookIn(waitMs: number): AwakeTimer {
    return new AwakeTimer(() => this.#look(), waitMs);
  }

  #look(): void {
    const { limitMs, nowMs, isHeldUp, expired } = this.#watched;
    if (isHeldUp()) this.lastMs = nowMs();
    const dueMs = this.lastMs + limitMs - nowMs();
    if (dueMs < 1) expired();
    else this.#timer = this.#lookIn(dueMs);
  }
}
