/**
 * Handles requests that were counted as interrupted because their replica had not been seen for a while, but have ended
 * after all. Their real end replaces the amounts that were reserved for them.
 */
import type { RequestView } from '../../contract/request-views.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { storableRow } from '../rules/storable-row.ts';
import { columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';
import type { PlacedRow } from './request-rows.ts';

/** A realtime session can also end as interrupted; it has a duration then. */
const reopenSql = `UPDATE requests SET outcome = NULL FROM ${unnest({ day: 'integer', id: 'text' })}
  WHERE requests.day = given.day AND requests.id = given.id AND requests.outcome = 'interrupted'
    AND requests.total_ms IS NULL RETURNING requests.*`;

/**
 * Turns them back into running requests, so that their ends can be written. Resolves with the rows as they were
 * counted.
 */
export async function reopenInterrupted(queries: Queries, ends: readonly PlacedRow[]): Promise<CountedRow[]> {
  if (ends.length === 0) return [];
  const { rows } = await queries.ask(reopenSql, ...columnsOf(ends.map(({ row, day }) => [day, row.id])));
  return rows.map((row) =>
    storableRow({ ...toLedgerRow({ ...row, outcome: 'interrupted' }), outcome: 'interrupted', totalMs: 0 }),
  );
}

type CountedRow = RequestView & { outcome: 'interrupted'; totalMs: number };
