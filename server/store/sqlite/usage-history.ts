/**
 * The past usage of a key or group, for its limits. Read when a limited key or group is first used after a start, and
 * at the beginning of each budget period. SQLite answers synchronously.
 */

import { inNanodollars } from '../../contract/count.ts';
import type { CountedScope, LimitScope } from '../../contract/limits.ts';
import { quarterMs } from '../../contract/units.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { number, type Row } from '../rules/columns.ts';
import { sql } from '../rules/condition-sql.ts';
import { ratedRequests } from '../rules/request-conditions.ts';
import { type Database, Reads } from './database.ts';
import { lastRolledDay, quartersPerDay } from './derived-rows.ts';
import { firstSince } from './request-names.ts';

export interface Amounts {
  usd: number;
  /** Input and output. */
  tokens: number;
}

export interface Spent extends Amounts {
  /** Requests of unknown cost, which are not in `usd`. */
  unpriced: number;
}

/** Unix milliseconds, multiples of 15 minutes; infinite at both ends for all time. */
export interface HistoryRange {
  startMs: number;
  endMs: number;
}

export interface PastRequest {
  /** Unix milliseconds. */
  startedAt: number;
  tokens: number;
}

export interface SpentQuery<Scope extends LimitScope = CountedScope> {
  scope: Scope;
  id: string;
  range: HistoryRange;
}

export interface RequestName {
  id: string;
  /** Unix milliseconds; at most a day too late. */
  startedAt: number;
}

/** A consistent snapshot of the ledger. */
export interface LedgerMoment<Scope extends LimitScope = CountedScope> {
  /** Like `UsageHistory.spent`, in the order of the questions. */
  spent(questions: readonly SpentQuery<Scope>[]): MaybePromise<readonly Spent[]>;
  /** The ids of those requests that the totals include. */
  ended(requests: readonly RequestName[]): MaybePromise<ReadonlySet<string>>;
}

/** Throws or rejects while the ledger cannot be read. */
export interface UsageHistory<Scope extends LimitScope = CountedScope> {
  /** Totals of the requests that began in the range. For all time, `unpriced` is not available. */
  spent(scope: Scope, id: string, range: HistoryRange): MaybePromise<Spent>;
  /** Requests that began at `sinceMs` or later, without those that Sluice refused. */
  requestsSince(scope: Scope, id: string, sinceMs: number): MaybePromise<PastRequest[]>;
  /** Called when a key is removed, so that another key with its id starts at zero. */
  forgetTotal(scope: Scope, id: string): MaybePromise<void>;
  /** Only for a ledger that other replicas write as well. The first question fixes the snapshot. */
  atSnapshot?<T>(work: (ledgerMoment: LedgerMoment<Scope>) => Promise<T>): Promise<T>;
}

/** The history in SQLite, which answers synchronously. */
export interface LocalUsageHistory extends UsageHistory {
  spent(scope: CountedScope, id: string, range: HistoryRange): Spent;
  requestsSince(scope: CountedScope, id: string, sinceMs: number): PastRequest[];
  forgetTotal(scope: CountedScope, id: string): void;
}

export function createUsageHistory(database: Database): LocalUsageHistory {
  const total = database.prepare('SELECT tokens, cost_usd FROM usage_totals WHERE dimension = ? AND name = ?');
  const sumOf = {
    quarter: prepareSum(database, 'usage_cells', 'quarter'),
    day: prepareSum(database, 'usage_days', 'day'),
  };
  const newest = database.prepare('SELECT max(quarter) AS quarter FROM usage_cells WHERE dimension = ?');
  const reads = new Reads(database);
  const forget = database.prepare('DELETE FROM usage_totals WHERE dimension = ? AND name = ?');
  return {
    spent(scope, id, { startMs, endMs }) {
      if (!Number.isFinite(startMs)) return toSpent(total.get(scope, id));
      const last = number(newest.get(scope)?.quarter) ?? -1;
      const first = Math.floor(startMs / quarterMs);
      const end = Math.min(Math.ceil(endMs / quarterMs), last + 1);
      // Use the totals of whole days as far as they are rolled up.
      const firstDay = Math.ceil(first / quartersPerDay);
      const endDay = Math.min(Math.floor(end / quartersPerDay), lastRolledDay(database, scope) + 1);
      if (firstDay >= endDay) return sumOf.quarter(scope, id, [first, end]);
      return plus(
        sumOf.quarter(scope, id, [first, firstDay * quartersPerDay]),
        sumOf.day(scope, id, [firstDay, endDay]),
        sumOf.quarter(scope, id, [endDay * quartersPerDay, end]),
      );
    },
    requestsSince(scope, id, sinceMs) {
      const places = [sql`seq >= ${firstSince(database, sinceMs)}`];
      return reads.all(ratedRequests({ scope, ids: [id], sinceMs, places })).map(toPast);
    },
    forgetTotal: (scope, id) => void forget.run(scope, id),
  };
}

/** Missing columns count as 0. */
export function toSpent(row: Row | undefined): Spent {
  return {
    usd: inNanodollars(number(row?.cost_usd) ?? 0),
    tokens: number(row?.tokens) ?? 0,
    unpriced: number(row?.unpriced) ?? 0,
  };
}

export function plus(...all: Spent[]): Spent {
  return all.reduce((sum, { usd, tokens, unpriced }) => ({
    usd: inNanodollars(sum.usd + usd),
    tokens: sum.tokens + tokens,
    unpriced: sum.unpriced + unpriced,
  }));
}

export const toPast = (row: Row): PastRequest => ({
  startedAt: number(row.started_at) ?? 0,
  tokens: number(row.tokens) ?? 0,
});

/** One index look-up for each quarter or day, whatever the number of names. CROSS JOIN keeps SQLite from reordering the join. */
function prepareSum(database: Database, table: 'usage_cells' | 'usage_days', timeColumn: 'quarter' | 'day') {
  const select = database.prepare(
    `WITH RECURSIVE places (at) AS (SELECT ? UNION ALL SELECT at + 1 FROM places WHERE at + 1 < ?)
     SELECT sum(input_tokens + output_tokens) AS tokens, sum(cost_usd) AS cost_usd, sum(unpriced_requests) AS unpriced
     FROM places CROSS JOIN ${table} ON dimension = ? AND ${timeColumn} = at AND name = ?`,
  );
  return (scope: CountedScope, id: string, [first, end]: readonly [number, number]): Spent =>
    toSpent(first < end ? select.get(first, end, scope, id) : undefined);
}
