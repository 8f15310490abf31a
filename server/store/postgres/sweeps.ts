/** Periodically deletes old records, at one replica at a time. */

import { after, every } from '../../ground/timers.ts';
import { messageOf } from '../rules/failures.ts';
import type { RetentionLimits } from '../sqlite/retention.ts';
import type { CaptureRoom } from './capture-room.ts';
import type { Postgres } from './postgres.ts';
import { sweepLedger } from './retention.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  settings(): RetentionLimits;
  captureRoom: Pick<CaptureRoom, 'trim'>;
}

const firstSweepMs = 60_000;
const sweepEveryMs = 15 * 60_000;
/** An arbitrary number that no other program uses in the same database. */
const sweepLock = 4_810_004;

export class Sweeps {
  readonly #options: Options;
  readonly #first = after(() => this.#sweepQuietly(), firstSweepMs).unref();
  readonly #every = every(() => this.#sweepQuietly(), sweepEveryMs).unref();
  #running: Promise<number> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves with the number of days dropped; 0 if another replica is sweeping. Rejects with PostgreSQL's error. */
  sweep(): Promise<number> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #sweep(): Promise<number> {
    const { postgres, settings, captureRoom } = this.#options;
    const dropped = await postgres.exclusive(sweepLock, (queries) => sweepLedger(queries, settings()));
    await captureRoom.trim();
    return dropped ?? 0;
  }

  async close(): Promise<void> {
    clearTimeout(this.#first);
    clearInterval(this.#every);
    await this.#running?.catch(() => {});
  }

  async #sweepQuietly(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'old records cannot be deleted');
    }
  }
}
