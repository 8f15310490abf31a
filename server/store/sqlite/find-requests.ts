/** Finds, sorts and counts requests. Reads in pieces of a few milliseconds and lets other work run in between. */
import { setImmediate } from 'node:timers/promises';
import { errors } from '../../contract/condition.ts';
import type { RequestCount, RequestView } from '../../contract/request-views.ts';
import { number } from '../rules/columns.ts';
import { raw, rowSql, type Sql, sql, sqliteNotation } from '../rules/condition-sql.ts';
import {
  countColumns,
  latestRequests,
  maxCounted,
  maxSorted,
  type SortColumn,
  sortedBy,
} from '../rules/request-conditions.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { type UnpricedUse, UnpricedUses, unpricedUsesSql } from '../rules/unpriced-uses.ts';
import { type Database, Reads } from './database.ts';
import { piecesOf, type Selection } from './request-filter.ts';
import { type Range, wholeRange } from './seek.ts';

const rowsPerPiece = 4_000;
/** Rows that a sort reads at most. */
const maxRead = 200_000;

/** Newest first. `before`: only requests before this sequence number. */
export async function findRequests(
  database: Database,
  selection: Selection,
  limit: number,
  before = Number.POSITIVE_INFINITY,
): Promise<RequestView[]> {
  const reads = new Reads(database);
  const requests: RequestView[] = [];
  let sinceTurn = 0;
  for (const { low, high } of piecesOf(selection, rowsPerPiece)) {
    if (low >= before) continue;
    if (requests.length === limit) break;
    const end = Math.min(high, before);
    const newest = sql`SELECT * FROM requests WHERE ${within({ low, high: end })} AND ${selection.condition}
      ORDER BY seq DESC LIMIT ${limit - requests.length}`;
    for (const row of reads.all(newest)) requests.push(toLedgerRow(row));
    sinceTurn += end - low;
    if (sinceTurn < rowsPerPiece) continue;
    sinceTurn = 0;
    await setImmediate();
  }
  return requests;
}

const within = ({ low, high }: Range): Sql => sql`seq >= ${low} AND seq < ${high}`;

interface SortedRequests {
  requests: RequestView[];
  /** How many of the newest matching requests were sorted; null: all. */
  sortedOf: number | null;
}

/** The first `limit` by a column; requests without a value are left out. */
export async function sortRequests(
  database: Database,
  selection: Selection,
  { by, isAscending, limit }: { by: SortColumn; isAscending: boolean; limit: number },
): Promise<SortedRequests> {
  const { value, hasValue } = sortedBy(by);
  const reads = new Reads(database);
  const candidates: { seq: number; value: number }[] = [];
  let rowsRead = 0;
  let isCut = false;
  for (const { low, high } of piecesOf(selection, rowsPerPiece)) {
    isCut = candidates.length > maxSorted || rowsRead >= maxRead;
    if (isCut) break;
    const values = sql`SELECT seq, ${raw(value)} AS value FROM requests
      WHERE ${within({ low, high })} AND ${selection.condition} AND ${raw(hasValue)}
      ORDER BY seq DESC LIMIT ${maxSorted + 1 - candidates.length}`;
    for (const row of reads.all(values)) candidates.push({ seq: Number(row.seq), value: number(row.value) ?? 0 });
    rowsRead += high - low;
    await setImmediate();
  }
  isCut ||= candidates.length > maxSorted;
  candidates.length = Math.min(candidates.length, maxSorted);
  const sign = isAscending ? 1 : -1;
  candidates.sort((one, other) => sign * (one.value - other.value) || other.seq - one.seq);
  const selectRequest = database.prepare('SELECT * FROM requests WHERE seq = ?');
  const rows = candidates.slice(0, limit).map(({ seq }) => selectRequest.get(seq));
  return {
    requests: rows.filter((row) => row !== undefined).map(toLedgerRow),
    sortedOf: isCut ? candidates.length : null,
  };
}

/** Reads at most 200,000 rows; of more, it counts the newest. */
export async function countRequests(database: Database, selection: Selection): Promise<RequestCount> {
  if (selection.isWhole) return countAll(database, selection);
  const reads = new Reads(database);
  const count: RequestCount = { requests: 0, failed: 0, isComplete: true };
  let rowsRead = 0;
  for (const { low, high } of piecesOf(selection, rowsPerPiece)) {
    if (rowsRead >= maxCounted) return { ...count, isComplete: false };
    const [row] = reads.all(
      sql`SELECT ${raw(countColumns(sqliteNotation))} FROM requests WHERE ${within({ low, high })} AND ${selection.condition}`,
    );
    count.requests += number(row?.requests) ?? 0;
    count.failed += number(row?.failed) ?? 0;
    rowsRead += high - low;
    await setImmediate();
  }
  return count;
}

/** Rows are deleted from the oldest on, so there are no gaps. */
function countAll(database: Database, { range }: Selection): RequestCount {
  const row = database
    .prepare(
      `SELECT count(*) AS failed FROM requests INDEXED BY requests_failed
       WHERE outcome NOT IN ('ok', 'client-gone') AND ${rowSql(errors, sqliteNotation)}`,
    )
    .get();
  return { requests: range.high - range.low, failed: number(row?.failed) ?? 0, isComplete: true };
}

/** There is no index on costs, so the scan is limited: about 100 ms, in pieces of 4 ms. */
export async function findUnpriced(database: Database): Promise<UnpricedUse[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ?) ${unpricedUsesSql('asked', sqliteNotation)}`,
  );
  const uses = new UnpricedUses();
  for (let from = Math.max(low, high - latestRequests); from < high; from += rowsPerPiece) {
    uses.add(select.all(from, Math.min(from + rowsPerPiece, high)));
    await setImmediate();
  }
  return uses.list;
}
