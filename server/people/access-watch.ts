/** Tells those who listen for long, such as event streams, once they are let in no more. One question asks for all of them. */
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from './caller.ts';

interface Options {
  /** Whom these sessions and API tokens let in now, by their ids. */
  recognize(accessIds: readonly string[]): Promise<ReadonlyMap<string, Caller>>;
  /** How often that is asked if nothing tells of an end. */
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
    this.#polls = setInterval(() => void this.check(), options.everyMs ?? defaultEveryMs).unref();
  }

  /**
   * Calls `refused` once the session or token has ended, what the person may see has changed, or nobody can say. Returns how to end
   * that.
   */
  add(by: Caller, refused: () => void): () => void {
    // A function of its own, since the same one may be given for several.
    const notify = () => refused();
    this.#watched.set(notify, by);
    return () => this.#watched.delete(notify);
  }

  /** To be called when something was ended. Never rejects. */
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
      const asked = [...this.#watched];
      const ids = new Set(asked.map(([, { accessId }]) => accessId));
      const now = await this.#options.recognize([...ids]).catch(() => null);
      for (const [refused, { accessId, person }] of asked) {
        if (!isDeepStrictEqual(now?.get(accessId)?.person, person) && this.#watched.delete(refused)) refused();
      }
    } while (this.#isDueAgain);
    this.#running = null;
  }
}
