/** Writes together what came within a moment; tries again what fails, and says so once. */
import { messageOf } from '../database/failures.ts';

interface DelayedWriteOptions {
  /** Writes all that waits, or throws and leaves it waiting. */
  write(): void;
  /** Told of a failure that is not the one before. */
  failed(problem: string): void;
  /** How long what was noted may wait; at most 100. */
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

  /** Why the last one failed; null if it did not. */
  get problem(): string | null {
    return this.#problem;
  }

  /** There is something to write. */
  due(delayMs = this.#options.delayMs): void {
    this.#timer ??= setTimeout(this.flush, delayMs).unref();
  }

  /** Writes what waits, if anything does. Never throws. */
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

  /** Writes what waits, and tries no more. */
  close(): void {
    this.flush();
    this.#disarm();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
