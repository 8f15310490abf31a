/** Counts of refused requests that have no rows, at all replicas. The counts of other replicas date from the latest poll. */
import type { RequestRecord } from '../../contract/ledger.ts';
import type { RefusalView } from '../../contract/request-views.ts';
import { minuteMs } from '../../contract/units.ts';
import { number } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { type CountedMinute, keptRefusals, RefusalCounts, type Refusals, toRefusal } from '../sqlite/refusals.ts';
import { LaterWrite } from './later-write.ts';
import { columnsOf, type Postgres, repeat, unnest } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  /** How often the counts of other replicas are read. Default 5 s. */
  pollMs?: number;
}

const flushMs = 250;
const defaultPollMs = 5_000;
const unreadable = 'refusals cannot be read';

const columns = {
  minute: 'integer',
  key_id: 'text',
  reason: 'text',
  requests: 'bigint',
  last_at: 'double precision',
  last_client: 'text',
};
const upsertSql = `INSERT INTO refusal_counts (${Object.keys(columns).join(', ')}) SELECT * FROM ${unnest(columns)}
  ON CONFLICT (minute, key_id, reason) DO UPDATE SET requests = refusal_counts.requests + excluded.requests,
    last_at = greatest(refusal_counts.last_at, excluded.last_at),
    last_client = CASE WHEN excluded.last_at >= refusal_counts.last_at THEN excluded.last_client
      ELSE refusal_counts.last_client END`;
const readSql = `SELECT * FROM refusal_counts ORDER BY minute DESC, reason, key_id LIMIT ${keptRefusals}`;
const trimSql = `DELETE FROM refusal_counts WHERE minute < (
  SELECT minute FROM refusal_counts ORDER BY minute DESC OFFSET ${keptRefusals} LIMIT 1)`;

export class PostgresRefusals implements Refusals {
  readonly #options: Options;
  readonly #counts: RefusalCounts;
  readonly #writing: LaterWrite;
  readonly #polls: NodeJS.Timeout;
  /** Counts of all replicas, in chronological order. */
  #written: CountedMinute[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#counts = new RefusalCounts(options.log);
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => options.log.warn({ error }, 'the count of refused requests cannot be written'),
      delayMs: flushMs,
    });
    this.#polls = repeat({
      everyMs: options.pollMs ?? defaultPollMs,
      work: () => this.read(),
      log: options.log,
      failed: unreadable,
    });
  }

  get count(): number {
    return this.#counts.count;
  }

  get unauthenticated(): number {
    return this.#counts.unauthenticated;
  }

  add(request: RequestRecord): void {
    this.#counts.add(request);
    this.#writing.due();
  }

  since(sinceMs: number): RefusalView[] {
    const first = Math.floor(sinceMs / minuteMs);
    return this.#counts.since(
      first,
      this.#written.filter(({ minute }) => minute >= first),
    );
  }

  /** Reads the counts that all replicas have written. Rejects with PostgreSQL's error. */
  async read(): Promise<void> {
    const { rows } = await this.#options.postgres.ask(readSql);
    this.#written = rows.map((row) => ({ minute: number(row.minute) ?? 0, ...toRefusal(row) })).reverse();
  }

  flush(): Promise<void> {
    return this.#writing.flush();
  }

  async close(): Promise<void> {
    clearInterval(this.#polls);
    this.#counts.log();
    await this.#writing.close();
  }

  async #write(): Promise<void> {
    const minutes = this.#counts.take();
    if (minutes.length === 0) return;
    const rows = minutes
      .map((each) => [each.minute, each.keyId ?? '', each.reason, each.requests, each.lastAt, each.lastClient] as const)
      .sort(
        ([minute, ...names], [otherMinute, ...otherNames]) =>
          minute - otherMinute || (names.slice(0, 2).join(' ') < otherNames.slice(0, 2).join(' ') ? -1 : 1),
      );
    try {
      // Outside a transaction, a stalled server could still execute it after it was given up, and it would be counted
      // twice.
      await this.#options.postgres.transaction((queries) => queries.ask(upsertSql, ...columnsOf(rows)));
    } catch (error) {
      this.#counts.restore(minutes);
      throw error;
    }
    await this.#options.postgres.ask(trimSql);
    await this.read().catch((error: unknown) => this.#options.log.warn({ error: messageOf(error) }, unreadable));
  }
}
