/** The usage of a key or group so far, of all replicas, for its limits. */
import type { LimitScope } from '../../contract/limits.ts';
import { number } from '../../database/columns.ts';
import type { Row } from '../../database/database.ts';
import { quarterMs, quartersPerDay } from '../../ledger/usage-cells.ts';
import type { HistoryRange, Spent } from '../../ledger/usage-history.ts';
import type { Postgres } from './postgres.ts';

const dayMs = 86_400_000;
/** Later than all quarters that a table can hold. */
const lastQuarter = 2 ** 31 - 1 - quartersPerDay;

const columns = 'input_tokens + output_tokens AS tokens, cost_usd, unpriced_requests AS unpriced';
const partsOf = (table: string, time: string, first: string, end: string) =>
  `SELECT ${columns} FROM ${table} WHERE dimension = $1 AND name = $2 AND ${time} >= ${first} AND ${time} < ${end}`;
/** Whole days where possible, quarters of an hour before and after. */
const spentSql = `SELECT sum(tokens) AS tokens, sum(cost_usd) AS cost_usd, sum(unpriced) AS unpriced FROM (
    ${partsOf('usage_quarters', 'quarter', '$3', `least($4, $5 * ${quartersPerDay})`)}
    UNION ALL ${partsOf('usage_days', 'day', '$5', '$6')}
    UNION ALL ${partsOf('usage_quarters', 'quarter', `$6 * ${quartersPerDay}`, '$4')}
  ) AS cells`;
const totalSql = `SELECT sum(tokens) AS tokens, sum(cost_usd) AS cost_usd FROM usage_totals
  WHERE dimension = $1 AND name = $2`;
const scopeColumns: Readonly<Record<LimitScope, string>> = { key: 'key_id', group: 'group_id' };

/** Totals of the requests that began in the range and are written. For all time, `unpriced` is not available. */
export async function readSpent(
  postgres: Postgres,
  { scope, id, range }: { scope: LimitScope; id: string; range: HistoryRange },
): Promise<Spent> {
  if (!Number.isFinite(range.startMs)) return toSpent((await postgres.ask(totalSql, scope, id)).rows[0]);
  const first = Math.max(0, Math.floor(range.startMs / quarterMs));
  const end = Math.min(lastQuarter, Math.ceil(range.endMs / quarterMs));
  const firstDay = Math.ceil(first / quartersPerDay);
  const endDay = Math.max(firstDay, Math.floor(end / quartersPerDay));
  const { rows } = await postgres.ask(spentSql, scope, id, first, end, firstDay, endDay);
  return toSpent(rows[0]);
}

/** Requests that began at `sinceMs` or later, without those that Sluice refused. */
export async function readRequestsSince(
  postgres: Postgres,
  { scope, id, sinceMs }: { scope: LimitScope; id: string; sinceMs: number },
): Promise<{ startedAt: number; tokens: number }[]> {
  const { rows } = await postgres.ask(
    `SELECT started_at, coalesce((usage ->> 'inputTokens')::float8, 0) + coalesce((usage ->> 'outputTokens')::float8, 0) AS tokens
     FROM requests WHERE day >= $1 AND ${scopeColumns[scope]} = $2 AND started_at >= $3
       AND (provider IS NOT NULL OR outcome IS NULL) AND shadow_of IS NULL ORDER BY seq`,
    Math.floor(sinceMs / dayMs),
    id,
    sinceMs,
  );
  return rows.map((row) => ({ startedAt: number(row.started_at) ?? 0, tokens: number(row.tokens) ?? 0 }));
}

/** To be called when a key is removed, so that another key with its id starts at zero. */
export async function forgetTotal(postgres: Postgres, scope: LimitScope, id: string): Promise<void> {
  await postgres.ask('DELETE FROM usage_totals WHERE dimension = $1 AND name = $2', scope, id);
}

function toSpent(row: Row | undefined): Spent {
  return {
    usd: number(row?.cost_usd) ?? 0,
    tokens: number(row?.tokens) ?? 0,
    unpriced: number(row?.unpriced) ?? 0,
  };
}
