/** Combines writes within a short time, retries failed ones, and reports each new failure once. */

import { after } from '../../ground/timers.ts';
import { messageOf } from './failures.ts';

interface DelayedWriteOptions {
  /** Writes everything pending, or throws and keeps it. */
  write(): void;
  /** Called for a failure that differs from the previous one. */
  failed(problem: string): void;
  /** The longest delay of a write; at most 100. */
  delayMs: number;
}

const retryMs = 1_000;

export class DelayedWrite {
  readonly #options: DelayedWriteOptions;
  #timer: NodeJS.Timeout | null = null;
  #problem: string | null = null;

  constructor(options: DelayedWriteOptions) {
    this.#options = options;
  }

  /** Why the last write failed; null if it succeeded. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Schedules a write. */
  due(delayMs = this.#options.delayMs): void {
    this.#timer ??= after(this.flush, delayMs).unref();
  }

  /** Performs a scheduled write now. Never throws. */
  readonly flush = (): void => {
    if (this.#timer === null) return;
    this.#disarm();
    try {
      this.#options.write();
      this.#problem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) this.#options.failed(problem);
      this.#problem = problem;
      this.due(retryMs);
    }
  };

  /** Runs a scheduled write, without retries. */
  close(): void {
    this.flush();
    this.#disarm();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
