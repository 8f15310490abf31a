/**
 * Counts requests without a valid key in memory until the counts are written, and logs them once a minute for each
 * reason.
 */

import type { RequestRecord } from '../../contract/ledger.ts';
import type { RefusalView } from '../../contract/request-views.ts';
import { minuteMs } from '../../contract/units.ts';
import { after } from '../../ground/timers.ts';
import { number, type Row, text } from '../rules/columns.ts';

export interface CountedMinute extends RefusalView {
  /** Since 1970. */
  minute: number;
}

/** About a week of one reason a minute. */
export const keptRefusals = 10_000;
/** Entries kept while writing fails; beyond this the oldest are dropped. */
const maxWaiting = 1_000;

export class RefusalCounts {
  readonly #log: { warn(fields: object, message: string): void };
  readonly #waiting = new Map<string, CountedMinute>();
  /** Counts that are not logged yet. */
  readonly #unlogged = new Map<string, RefusalView>();
  #telling: NodeJS.Timeout | null = null;
  /** The number of calls of `add`. */
  count = 0;

  constructor(log: { warn(fields: object, message: string): void }) {
    this.#log = log;
  }

  add({ startedAt, errorCode, outcome, client }: RequestRecord): void {
    this.count += 1;
    const reason = errorCode ?? outcome;
    const minute = Math.floor(startedAt / minuteMs);
    const refusal = { reason, requests: 1, lastAt: startedAt, lastClient: client };
    this.#wait({ minute, ...refusal });
    this.#unlogged.set(reason, plus(this.#unlogged.get(reason), refusal));
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

  /** Sums by reason, latest first. `written`: the stored counts, in order of time. */
  since(firstMinute: number, written: readonly RefusalView[]): RefusalView[] {
    const refusals = new Map<string, RefusalView>();
    const waiting = this.waiting.filter(({ minute }) => minute >= firstMinute);
    for (const each of [...written, ...waiting]) refusals.set(each.reason, plus(refusals.get(each.reason), each));
    return [...refusals.values()].sort((a, b) => b.lastAt - a.lastAt || (a.reason < b.reason ? -1 : 1));
  }

  /** Logs the counts that were not logged yet. */
  log(): void {
    if (this.#telling !== null) clearTimeout(this.#telling);
    this.#telling = null;
    for (const { reason, requests, lastClient } of this.#unlogged.values())
      this.#log.warn({ reason, requests, lastClient }, 'requests without a valid key were refused');
    this.#unlogged.clear();
  }

  #wait(countedMinute: CountedMinute): void {
    const name = `${countedMinute.minute} ${countedMinute.reason}`;
    const existing = this.#waiting.get(name);
    if (existing) Object.assign(existing, plus(existing, countedMinute));
    else this.#waiting.set(name, countedMinute);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > maxWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }
}

/** Converts a row of the table `refusals`. */
export function toRefusal(row: Row): RefusalView {
  return {
    reason: text(row.reason) ?? '',
    requests: number(row.requests) ?? 0,
    lastAt: number(row.last_at) ?? 0,
    lastClient: text(row.last_client),
  };
}

/** The sum of the requests, with the latest time and client. */
function plus(earlier: RefusalView | undefined, later: RefusalView): RefusalView {
  const { reason, requests } = later;
  const { lastAt, lastClient } = earlier && earlier.lastAt > later.lastAt ? earlier : later;
  return { reason, requests: (earlier?.requests ?? 0) + requests, lastAt, lastClient };
}
