/** Queries about shadow requests. */
import type { RequestView } from '../../contract/request-views.ts';
import type { ShadowSummary } from '../../contract/shadow.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { maxShadowsRead, ShadowSums, type ShadowsQuestion } from '../rules/shadow-sums.ts';
import type { Postgres } from './postgres.ts';

const dayMs = 86_400_000;
const rowsPerPiece = 1_000;
const pieceSql = `SELECT * FROM requests WHERE shadow_of IS NOT NULL AND seq < $1 AND day >= $2
  ORDER BY seq DESC LIMIT ${rowsPerPiece}`;

/** The latest shadow of the request; null if there is none. */
export async function getShadow(postgres: Postgres, requestId: string): Promise<RequestView | null> {
  const { rows } = await postgres.ask(
    "SELECT * FROM requests WHERE shadow_of ->> 'id' = $1 AND shadow_of IS NOT NULL ORDER BY seq DESC LIMIT 1",
    requestId,
  );
  return rows[0] ? toLedgerRow(rows[0]) : null;
}

/** Considers the newest 100,000 shadows. Sorted by requests, most first. */
export async function summarizeShadows(postgres: Postgres, question: ShadowsQuestion): Promise<ShadowSummary[]> {
  const firstDay = Math.max(0, Math.floor((question.sinceMs ?? 0) / dayMs));
  const sums = new ShadowSums(question);
  let before = Number.MAX_SAFE_INTEGER;
  for (let rowsRead = 0; rowsRead < maxShadowsRead; rowsRead += rowsPerPiece) {
    const { rows } = await postgres.ask(pieceSql, before, firstDay);
    for (const row of rows.map(toLedgerRow)) {
      before = row.seq;
      sums.add(row);
    }
    if (rows.length < rowsPerPiece) break;
  }
  return sums.summaries;
}
