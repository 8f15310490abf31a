/** When keys were last used, at any replica: in memory, since views of keys are made at once. */
import { number, text } from '../../database/columns.ts';
import { messageOf } from '../../database/failures.ts';
import type { Postgres } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
}

/** How often uses at other replicas are read. */
const pollMs = 15_000;
/** Clocks of replicas may differ by this much, and rows wait to be written. */
const slackMs = 120_000;

export class KeyUses {
  readonly #options: Options;
  readonly #lastUsed = new Map<string, number>();
  readonly #polls: NodeJS.Timeout;
  #newestMs = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#polls = setInterval(() => void this.#readQuietly(), pollMs).unref();
  }

  /** Unix milliseconds, by key id. */
  get lastUsed(): Map<string, number> {
    return this.#lastUsed;
  }

  note(keyId: string | null, timeMs: number): void {
    if (keyId !== null && timeMs > (this.#lastUsed.get(keyId) ?? 0)) this.#lastUsed.set(keyId, timeMs);
  }

  /** Rejects with PostgreSQL's error. */
  async read(): Promise<void> {
    const { rows } = await this.#options.postgres.ask(
      'SELECT key_id, last_used_at FROM key_uses WHERE last_used_at > $1',
      this.#newestMs - slackMs,
    );
    for (const row of rows) {
      const timeMs = number(row.last_used_at) ?? 0;
      this.note(text(row.key_id), timeMs);
      this.#newestMs = Math.max(this.#newestMs, timeMs);
    }
  }

  close(): void {
    clearInterval(this.#polls);
  }

  async #readQuietly(): Promise<void> {
    try {
      await this.read();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'last uses of keys cannot be read');
    }
  }
}
