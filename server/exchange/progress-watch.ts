/** What a watch asks of its attempt. Milliseconds on a clock that does not count sleep. */
interface Watched {
  limitMs: number;
  nowMs(): number;
  /** The client does not read, so that nothing can come. */
  isHeldUp(): boolean;
  expired(): void;
}

/**
 * Runs out where nothing of use has come for so long, whatever signs of life there were: comments, empty events, or a byte
 * now and then keep a connection from being silent. What comes is a note of the time and costs no timer.
 */
export class ProgressWatch {
  /** When the latest came. */
  lastMs: number;
  readonly #watched: Watched;
  #timer: NodeJS.Timeout;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.lastMs = watched.nowMs();
    this.#timer = this.#lookIn(watched.limitMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #lookIn(waitMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), waitMs);
  }

  #look(): void {
    const { limitMs, nowMs, isHeldUp, expired } = this.#watched;
    if (isHeldUp()) this.lastMs = nowMs();
    const dueMs = this.lastMs + limitMs - nowMs();
    if (dueMs < 1) expired();
    else this.#timer = this.#lookIn(dueMs);
  }
}
