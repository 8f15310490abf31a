/**
 * Refused requests that get no rows, because a client can send them in any number: those without a valid key, and those
 * over a limit after the first one of the same key and reason in a minute. They are counted by minute, key and reason,
 * together with the last client's `user-agent`, so that the program can be found. They are logged once a minute for each
 * key and reason.
 */
import type { RequestRecord } from '../../contract/ledger.ts';
import type { RefusalView } from '../../contract/request-views.ts';
import { minuteMs } from '../../contract/units.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { DelayedWrite } from '../rules/delayed-write.ts';
import { isTemporary } from '../rules/failures.ts';
import type { Database } from './database.ts';
import { keptRefusals, RefusalCounts, toRefusal } from './refusal-counts.ts';

export interface Refusals {
  /** Counts a request, in memory. */
  add(request: RequestRecord): void;
  /** The number of calls of `add`. */
  readonly count: number;
  /** Of these, the requests without a valid key. */
  readonly unauthenticated: number;
  /** By key and reason, latest first, since a time in Unix milliseconds, rounded down to a minute. */
  since(sinceMs: number): RefusalView[];
  flush(): MaybePromise<void>;
  close(): MaybePromise<void>;
}

interface RefusalsOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  flushMs: number;
}

export function createRefusals(options: RefusalsOptions): SqliteRefusals {
  return new SqliteRefusals(options);
}

class SqliteRefusals implements Refusals {
  readonly #database: Database;
  readonly #writing: DelayedWrite;
  readonly #counts: RefusalCounts;

  constructor({ database, log, flushMs }: RefusalsOptions) {
    this.#database = database;
    this.#counts = new RefusalCounts(log);
    this.#writing = new DelayedWrite({
      write: () => this.#write(),
      failed: (error) => log.warn({ error }, 'the count of refused requests cannot be written'),
      delayMs: flushMs,
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
    this.flush();
    const first = Math.floor(sinceMs / minuteMs);
    return this.#counts.since(first, this.#read(first));
  }

  flush(): void {
    this.#writing.flush();
  }

  close(): void {
    this.#counts.log();
    this.#writing.close();
  }

  /** In chronological order; empty while the file cannot be read. */
  #read(firstMinute: number): RefusalView[] {
    const select = 'SELECT * FROM refusals WHERE minute >= ? ORDER BY minute';
    try {
      return this.#database.prepare(select).all(firstMinute).map(toRefusal);
    } catch (error) {
      if (isTemporary(error)) return [];
      throw error;
    }
  }

  #write(): void {
    const database = this.#database;
    const upsert = database.prepare(
      `INSERT INTO refusals (minute, key_id, reason, requests, last_at, last_client) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, last_at = max(last_at, excluded.last_at),
         last_client = CASE WHEN excluded.last_at >= last_at THEN excluded.last_client ELSE last_client END`,
    );
    database.transaction(() => {
      for (const { minute, keyId, reason, requests, lastAt, lastClient } of this.#counts.waiting)
        upsert.run(minute, keyId ?? '', reason, requests, lastAt, lastClient);
      database.prepare('DELETE FROM refusals WHERE seq <= (SELECT max(seq) FROM refusals) - ?').run(keptRefusals);
    });
    this.#counts.take();
  }
}
