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
import { after } from '../../ground/timers.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { DelayedWrite } from '../rules/delayed-write.ts';
import { isTemporary } from '../rules/failures.ts';
import type { Database } from './database.ts';

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

// Counts refused requests that have no rows in memory until the counts are written, and logs them once a minute for each
// key and reason.

export interface CountedMinute extends RefusalView {
  /** Since 1970. */
  minute: number;
}

/** About a week of one key and reason a minute. */
export const keptRefusals = 10_000;
/** Entries kept while writing fails; beyond this the oldest are dropped. */
const maxWaiting = 1_000;

export class RefusalCounts {
  readonly #log: { warn(fields: object, message: string): void };
  readonly #waiting = new Map<string, CountedMinute>();
  /** Counts that are not logged yet. */
  readonly #unlogged = new Map<string, RefusalView>();
  #telling: NodeJS.Timeout | null = null;
  /** The number of calls of `add`, and of those without a valid key. */
  count = 0;
  unauthenticated = 0;

  constructor(log: { warn(fields: object, message: string): void }) {
    this.#log = log;
  }

  add({ startedAt, errorCode, outcome, client, keyId }: RequestRecord): void {
    this.count += 1;
    if (keyId === null) this.unauthenticated += 1;
    const reason = errorCode ?? outcome;
    const minute = Math.floor(startedAt / minuteMs);
    const refusal = { keyId, reason, requests: 1, lastAt: startedAt, lastClient: client };
    this.#wait({ minute, ...refusal });
    this.#unlogged.set(nameOf(refusal), plus(this.#unlogged.get(nameOf(refusal)), refusal));
    this.#telling ??= after(() => this.log(), minuteMs).unref();
  }

  /** Counts that are not written yet. */
  get waiting(): CountedMinute[] {
    return [...this.#waiting.values()];
  }

  /** Takes the waiting counts, to write them. */
  take(): CountedMinute[] {
    const minutes = this.waiting;
    this.#waiting.clear();
    return minutes;
  }

  /** Restores counts that could not be written. */
  restore(minutes: readonly CountedMinute[]): void {
    const newer = this.take();
    for (const each of [...minutes, ...newer]) this.#wait(each);
  }

  /** Sums by key and reason, latest first. `written`: the stored counts, in order of time. */
  since(firstMinute: number, written: readonly RefusalView[]): RefusalView[] {
    const refusals = new Map<string, RefusalView>();
    const waiting = this.waiting.filter(({ minute }) => minute >= firstMinute);
    for (const each of [...written, ...waiting]) refusals.set(nameOf(each), plus(refusals.get(nameOf(each)), each));
    return [...refusals.values()].sort((a, b) => b.lastAt - a.lastAt || (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** Logs the counts that were not logged yet. */
  log(): void {
    if (this.#telling !== null) clearTimeout(this.#telling);
    this.#telling = null;
    for (const { keyId, reason, requests, lastClient } of this.#unlogged.values()) {
      const told = { reason, requests, lastClient };
      if (keyId === null) this.#log.warn(told, 'requests without a valid key were refused');
      else this.#log.warn({ key: keyId, ...told }, 'further requests over a limit were refused');
    }
    this.#unlogged.clear();
  }

  #wait(countedMinute: CountedMinute): void {
    const name = `${countedMinute.minute} ${nameOf(countedMinute)}`;
    const existing = this.#waiting.get(name);
    if (existing) Object.assign(existing, plus(existing, countedMinute));
    else this.#waiting.set(name, countedMinute);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > maxWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }
}

const nameOf = ({ keyId, reason }: Pick<RefusalView, 'keyId' | 'reason'>) => `${reason} ${keyId ?? ''}`;

/** Converts a row of counts. */
export function toRefusal(row: Row): RefusalView {
  return {
    keyId: text(row.key_id) || null,
    reason: text(row.reason) ?? '',
    requests: number(row.requests) ?? 0,
    lastAt: number(row.last_at) ?? 0,
    lastClient: text(row.last_client),
  };
}

/** The sum of the requests, with the latest time and client. */
function plus(earlier: RefusalView | undefined, later: RefusalView): RefusalView {
  const { keyId, reason, requests } = later;
  const { lastAt, lastClient } = earlier && earlier.lastAt > later.lastAt ? earlier : later;
  return { keyId, reason, requests: (earlier?.requests ?? 0) + requests, lastAt, lastClient };
}
