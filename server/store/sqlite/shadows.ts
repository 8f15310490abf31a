/** Reads shadow requests: the shadow of one request, and a summary of all. */
import { setImmediate } from 'node:timers/promises';
import type { RequestView } from '../../contract/request-views.ts';
import type { ShadowSummary } from '../../contract/shadow.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { maxShadowsRead, ShadowSums, type ShadowsQuestion } from '../rules/shadow-sums.ts';
import type { Database } from './database.ts';
import { seekSeq, slackMs } from './seek.ts';

/** The latest one that repeats the request; null if there is none. */
export function shadowOf(database: Database, requestId: string): RequestView | null {
  const row = database
    .prepare("SELECT * FROM requests WHERE shadow_of ->> 'id' = ? AND shadow_of IS NOT NULL ORDER BY seq DESC LIMIT 1")
    .get(requestId);
  return row ? toLedgerRow(row) : null;
}

const rowsPerBatch = 1_000;

/** One for each group and model, most requests first. Those that run are left out. */
export async function summarizeShadows(database: Database, question: ShadowsQuestion): Promise<ShadowSummary[]> {
  const { sinceMs } = question;
  const low = sinceMs === undefined ? 0 : seekSeq(database, sinceMs - slackMs);
  const selectRows = database.prepare(
    `SELECT * FROM requests INDEXED BY requests_shadow_rows
     WHERE shadow_of IS NOT NULL AND seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ${rowsPerBatch}`,
  );
  const sums = new ShadowSums(question);
  let before = Number.MAX_SAFE_INTEGER;
  for (let rowsRead = 0; rowsRead < maxShadowsRead; rowsRead += rowsPerBatch) {
    const rows = selectRows.all(low, before).map(toLedgerRow);
    for (const row of rows) {
      before = row.seq;
      sums.add(row);
    }
    if (rows.length < rowsPerBatch) break;
    await setImmediate();
  }
  return sums.summaries;
}
