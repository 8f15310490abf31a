/** Finds models that were used although their price is unknown. */
import { setImmediate } from 'node:timers/promises';
import { sqliteNotation } from '../rules/condition-sql.ts';
import { type UnpricedUse, UnpricedUses, unpricedUsesSql } from '../rules/unpriced-uses.ts';
import type { Database } from './database.ts';
import { wholeRange } from './seek.ts';

/** There is no index on costs, so the scan is limited: about 100 ms, in batches of 4 ms. */
const latestRows = 100_000;
const rowsPerBatch = 4_000;

/** The models of the latest 100,000 requests that may have had an unknown cost. */
export async function findUnpriced(database: Database): Promise<UnpricedUse[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ?) ${unpricedUsesSql('asked', sqliteNotation)}`,
  );
  const uses = new UnpricedUses();
  for (let from = Math.max(low, high - latestRows); from < high; from += rowsPerBatch) {
    uses.add(select.all(from, Math.min(from + rowsPerBatch, high)));
    await setImmediate();
  }
  return uses.list;
}
