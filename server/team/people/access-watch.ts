/** Notifies long-lived listeners, such as event streams, when their access has ended. One query checks all of them. */
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../../control/people/caller.ts';
import { every } from '../../ground/timers.ts';

interface Options {
  /** The persons whom these sessions and API tokens authenticate now, by id. */
  recognize(accessIds: readonly string[]): Promise<ReadonlyMap<string, Caller>>;
  /** Interval of checks without a notification. */
  everyMs?: number;
}

const defaultEveryMs = 500;

export class AccessWatch {
  readonly #options: Options;
  readonly #watched = new Map<() => void, Caller>();
  readonly #polls: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  #isDueAgain = false;

  constructor(options: Options) {
    this.#options = options;
    this.#polls = every(() => this.check(), options.everyMs ?? defaultEveryMs).unref();
  }

  /**
   * Calls `refused` once the session or token has ended, what the person may see has changed, or neither can be
   * determined. Returns a function that stops watching.
   */
  add(by: Caller, refused: () => void): () => void {
    // Wrapped, because the same callback may be passed several times.
    const notify = () => refused();
    this.#watched.set(notify, by);
    return () => this.#watched.delete(notify);
  }

  /** Checks again who has access, after some of it was revoked. Never rejects. */
  async check(): Promise<void> {
    if (this.#watched.size === 0) return;
    if (this.#running) this.#isDueAgain = true;
    this.#running ??= this.#check();
    await this.#running;
  }

  close(): void {
    clearInterval(this.#polls);
  }

  async #check(): Promise<void> {
    do {
      this.#isDueAgain = false;
      const entries = [...this.#watched];
      const ids = new Set(entries.map(([, { accessId }]) => accessId));
      const now = await this.#options.recognize([...ids]).catch(() => null);
      for (const [refused, { accessId, person }] of entries) {
        if (!isDeepStrictEqual(now?.get(accessId)?.person, person) && this.#watched.delete(refused)) refused();
      }
    } while (this.#isDueAgain);
    this.#running = null;
  }
}
