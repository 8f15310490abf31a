/**
 * Requests that count as interrupted, since the replica that served them was not seen for a while, and have ended after all: their end
 * takes the place of what was reserved for them.
 */
import type { RequestView } from '../../contract/request-views.ts';
import { toLedgerRow } from '../../ledger/rows.ts';
import { columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';
import type { PlacedRow } from './request-rows.ts';

/** A realtime session may end as interrupted by itself, and then has a duration. */
const reopenSql = `UPDATE requests SET outcome = NULL FROM ${unnest({ day: 'integer', id: 'text' })}
  WHERE requests.day = given.day AND requests.id = given.id AND requests.outcome = 'interrupted'
    AND requests.total_ms IS NULL RETURNING requests.*`;

/** Makes running ones of them, so that their ends can be written. Resolves with them as they counted. */
export async function reopenInterrupted(queries: Queries, ends: readonly PlacedRow[]): Promise<CountedRow[]> {
  if (ends.length === 0) return [];
  const { rows } = await queries.ask(reopenSql, ...columnsOf(ends.map(({ row, day }) => [day, row.id])));
  return rows.map((row) => ({
    ...toLedgerRow({ ...row, outcome: 'interrupted' }),
    outcome: 'interrupted',
    totalMs: 0,
  }));
}

type CountedRow = RequestView & { outcome: 'interrupted'; totalMs: number };
