/**
 * Bounds the captures of all replicas in number of bytes: the oldest are deleted soon after newer ones need their room, by
 * one replica at a time.
 */
import { number } from '../rules/columns.ts';
import { captureTables } from './captures.ts';
import { LaterWrite } from './later-write.ts';
import type { Postgres, Queries } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  /** Called on each use. */
  maxBytes(): number;
}

const delayMs = 1_000;
/** An arbitrary number that no other program uses in the same database. */
const roomLock = 4_810_007;
const capturesPerBatch = 100;

const heldSql = 'SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM capture_sizes';
/** The oldest, as many as make up $1 bytes; the newest is kept even if it is larger alone. */
const oldestSql = `SELECT day, id FROM (
    SELECT day, id, sum(bytes) OVER (ORDER BY captured_at, id) - bytes AS before FROM (
      SELECT * FROM capture_sizes ORDER BY captured_at, id LIMIT least(${capturesPerBatch}, (SELECT count(*) FROM capture_sizes) - 1)
    ) AS oldest
  ) AS summed WHERE before < $1`;

export class CaptureRoom {
  readonly #options: Options;
  readonly #trimming: LaterWrite;
  #bytes: number | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#trimming = new LaterWrite({
      write: () => this.trim(),
      failed: (error) => options.log.warn({ error }, 'old captures cannot be deleted'),
      delayMs,
    });
  }

  /** What the captures took when they were last counted, without the index of their words. */
  get bytes(): number | undefined {
    return this.#bytes;
  }

  /** To be called after captures were written. */
  readonly captureWritten = (): void => this.#trimming.due();

  /** Rejects with PostgreSQL's error. */
  async trim(): Promise<void> {
    const { postgres } = this.#options;
    const held = await postgres.exclusive(roomLock, (queries) => this.#removeOldest(queries));
    // Another replica is at it.
    if (held === null) this.#trimming.due();
    else this.#bytes = held;
  }

  /** Resolves with the bytes that are left. */
  async #removeOldest(queries: Queries): Promise<number> {
    for (;;) {
      const { rows } = await queries.ask(heldSql);
      const held = number(rows[0]?.bytes) ?? 0;
      const excess = held - this.#options.maxBytes();
      const oldest = excess > 0 ? (await queries.ask(oldestSql, excess)).rows : [];
      if (oldest.length === 0) return held;
      const days = oldest.map(({ day }) => number(day));
      const ids = oldest.map(({ id }) => String(id));
      for (const table of [...captureTables, 'capture_sizes']) {
        await queries.ask(
          `DELETE FROM ${table} WHERE (day, id) IN (SELECT * FROM unnest($1::integer[], $2::text[]))`,
          days,
          ids,
        );
      }
    }
  }

  close(): Promise<void> {
    return this.#trimming.close();
  }
}
