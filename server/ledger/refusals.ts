/**
 * Requests without a valid key. Anyone can send them in any number, so they get no rows; they are counted by minute and
 * reason, together with the last client's `user-agent`, so that a program with a wrong key can be found. They are logged
 * once a minute for each reason.
 */
import type { RequestRecord } from '../contract/ledger.ts';
import type { RefusalView } from '../contract/request-views.ts';
import { number, text } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { isTemporary } from '../database/failures.ts';
import { DelayedWrite } from './delayed-write.ts';

export interface Refusals {
  /** Counts a request, in memory. */
  add(request: RequestRecord): void;
  /** The number of calls of `add`. */
  readonly count: number;
  /** By reason, latest first, since a time in Unix milliseconds, rounded down to a minute. */
  since(sinceMs: number): RefusalView[];
  flush(): void;
  close(): void;
}

interface RefusalsOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  flushMs: number;
}

interface CountedMinute extends RefusalView {
  /** Since 1970. */
  minute: number;
}

const minuteMs = 60_000;
/** About a week of one reason a minute. */
const keptRows = 10_000;
/** Entries kept while writing fails; beyond this the oldest are dropped. */
const mostWaiting = 1_000;

export function createRefusals(options: RefusalsOptions): Refusals {
  return new CountedRefusals(options);
}

class CountedRefusals implements Refusals {
  readonly #options: RefusalsOptions;
  readonly #writing: DelayedWrite;
  readonly #waiting = new Map<string, CountedMinute>();
  /** Counts that are not logged yet. */
  readonly #untold = new Map<string, RefusalView>();
  #telling: NodeJS.Timeout | null = null;
  count = 0;

  constructor(options: RefusalsOptions) {
    const { log, flushMs } = options;
    this.#options = options;
    this.#writing = new DelayedWrite({
      write: () => this.#write(),
      failed: (error) => log.warn({ error }, 'the count of refused requests cannot be written'),
      delayMs: flushMs,
    });
  }

  add({ startedAt, errorCode, outcome, client }: RequestRecord): void {
    this.count += 1;
    const reason = errorCode ?? outcome;
    const minute = Math.floor(startedAt / minuteMs);
    const refusal = { reason, requests: 1, lastAt: startedAt, lastClient: client };
    const name = `${minute} ${reason}`;
    const counted = this.#waiting.get(name);
    if (counted) Object.assign(counted, plus(counted, refusal));
    else this.#waiting.set(name, { minute, ...refusal });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostWaiting && oldest !== undefined) this.#waiting.delete(oldest);
    this.#untold.set(reason, plus(this.#untold.get(reason), refusal));
    this.#writing.due();
    this.#telling ??= setTimeout(this.#tell, minuteMs).unref();
  }

  since(sinceMs: number): RefusalView[] {
    this.flush();
    const first = Math.floor(sinceMs / minuteMs);
    const found = new Map<string, RefusalView>();
    const waiting = [...this.#waiting.values()].filter(({ minute }) => minute >= first);
    for (const each of [...this.#read(first), ...waiting]) found.set(each.reason, plus(found.get(each.reason), each));
    return [...found.values()].sort((a, b) => b.lastAt - a.lastAt);
  }

  flush(): void {
    this.#writing.flush();
  }

  close(): void {
    this.#tell();
    this.#writing.close();
  }

  /** In chronological order; empty while the file cannot be read. */
  #read(firstMinute: number): RefusalView[] {
    const select = 'SELECT * FROM refusals WHERE minute >= ? ORDER BY minute';
    try {
      return this.#options.database
        .prepare(select)
        .all(firstMinute)
        .map((row) => ({
          reason: text(row.reason) ?? '',
          requests: number(row.requests) ?? 0,
          lastAt: number(row.last_at) ?? 0,
          lastClient: text(row.last_client),
        }));
    } catch (error) {
      if (isTemporary(error)) return [];
      throw error;
    }
  }

  #write(): void {
    const { database } = this.#options;
    const upsert = database.prepare(
      `INSERT INTO refusals (minute, reason, requests, last_at, last_client) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, last_at = excluded.last_at,
         last_client = excluded.last_client`,
    );
    database.transaction(() => {
      for (const { minute, reason, requests, lastAt, lastClient } of this.#waiting.values())
        upsert.run(minute, reason, requests, lastAt, lastClient);
      database.prepare('DELETE FROM refusals WHERE seq <= (SELECT max(seq) FROM refusals) - ?').run(keptRows);
    });
    this.#waiting.clear();
  }

  readonly #tell = (): void => {
    if (this.#telling !== null) clearTimeout(this.#telling);
    this.#telling = null;
    for (const { reason, requests, lastClient } of this.#untold.values())
      this.#options.log.warn({ reason, requests, lastClient }, 'requests without a valid key were refused');
    this.#untold.clear();
  };
}

/** The sum of the requests, with the latest time and client. */
function plus(earlier: RefusalView | undefined, later: RefusalView): RefusalView {
  const { reason, requests, lastAt, lastClient } = later;
  return { reason, requests: (earlier?.requests ?? 0) + requests, lastAt, lastClient };
}
