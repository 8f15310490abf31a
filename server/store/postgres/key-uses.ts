/** The last use of each key at any replica. Kept in memory because views of keys are built synchronously. */
import { number, text } from '../rules/columns.ts';
import { type Postgres, repeat } from './postgres.ts';

/** How often uses at other replicas are read. */
const pollMs = 15_000;
/** Clocks of replicas may differ by this much, and rows may wait before they are written. */
const slackMs = 120_000;

export class KeyUses {
  readonly #postgres: Postgres;
  readonly #lastUsed = new Map<string, number>();
  readonly #polls: NodeJS.Timeout;
  #newestMs = 0;

  constructor(postgres: Postgres, log: { warn(fields: object, message: string): void }) {
    this.#postgres = postgres;
    this.#polls = repeat({
      everyMs: pollMs,
      work: () => this.read(),
      log,
      failed: 'last uses of keys cannot be read',
    });
  }

  /** Unix milliseconds by key id. */
  get lastUsed(): Map<string, number> {
    return this.#lastUsed;
  }

  note(keyId: string | null, timeMs: number): void {
    if (keyId !== null && timeMs > (this.#lastUsed.get(keyId) ?? 0)) this.#lastUsed.set(keyId, timeMs);
  }

  /** Rejects with PostgreSQL's error. */
  async read(): Promise<void> {
    const { rows } = await this.#postgres.ask(
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
}
