/**
 * Combines writes that are due within a short time and runs them one after another. Retries failed writes, and reports
 * each new failure once.
 */

import { after, settleWithin } from '../../ground/timers.ts';
import { messageOf } from '../rules/failures.ts';

interface LaterWriteOptions {
  /** Writes everything pending. If it rejects, everything stays pending. */
  write(): Promise<void>;
  /** Called for a failure that differs from the previous one. */
  failed(problem: string): void;
  delayMs: number;
}

const retryMs = 1_000;
/** The longest that a request waits for a database that does not answer. */
const soonMs = 1_000;

export class LaterWrite {
  readonly #options: LaterWriteOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** When the running write began, by the monotonic clock. */
  #runningSinceMs = 0;
  #isDueAgain = false;
  #isClosed = false;
  #problem: string | null = null;

  constructor(options: LaterWriteOptions) {
    this.#options = options;
  }

  /** Why the last write failed; null if it succeeded. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Schedules a write. It runs after the current one. */
  due(delayMs = this.#options.delayMs): void {
    if (this.#running) this.#isDueAgain = true;
    else if (!this.#isClosed) this.#timer ??= after(() => this.flush(), delayMs).unref();
  }

  /** Resolves once everything that was pending is written, or cannot be written now. */
  readonly flush = async (): Promise<void> => {
    while (this.#running) await this.#running;
    if (this.#timer === null) return;
    this.#disarm();
    this.#runningSinceMs = performance.now();
    this.#running = this.#write();
    await this.#running;
  };

  /**
   * Like `flush`, for requests: resolves after one second at the latest, and at once if the running write has already
   * taken longer.
   */
  async flushSoon(): Promise<void> {
    if (this.#running && performance.now() - this.#runningSinceMs > soonMs) return;
    await settleWithin(soonMs, this.flush());
  }

  /** Runs a scheduled write, without retries. */
  async close(): Promise<void> {
    await this.flush();
    this.stop();
  }

  /** Does not wait for the running write. */
  stop(): void {
    this.#isClosed = true;
    this.#disarm();
  }

  async #write(): Promise<void> {
    let againMs: number | undefined;
    try {
      await this.#options.write();
      this.#problem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) this.#options.failed(problem);
      this.#problem = problem;
      againMs = retryMs;
    }
    this.#running = null;
    const isDue = this.#isDueAgain || againMs !== undefined;
    this.#isDueAgain = false;
    if (isDue) this.due(againMs);
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
