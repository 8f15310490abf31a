/**
 * Usage in steps shorter than those of the sums, computed from the requests themselves. Must count in the same way as
 * `store/sqlite/usage-cells.ts`.
 */
import { lostPurchaseCode } from '../../contract/errors.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import { nameColumns } from '../rules/counted-names.ts';
import { sumColumns, usageColumns } from '../rules/sums.ts';
import { orMoved } from './partitions.ts';

const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/**
 * Earlier versions stored NUL and half surrogate pairs as escapes, the only ones that `JSON.stringify` writes with these
 * numbers. PostgreSQL stores such JSON, but refuses to take texts out of it.
 */
const readableAttempts = String.raw`CASE WHEN strpos(attempts::text, '\u') = 0 THEN attempts
  ELSE regexp_replace(attempts::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'gi')::json END`;

/**
 * `step`: the place of its beginning, from 1. Parameters: the beginnings of the steps, names or null, the range in Unix
 * milliseconds, and the keys and groups whose requests are included, or null twice.
 */
export function stepsOfRequestsSql(by: UsageDimension): string {
  const isOfAttempts = by === 'model' || by === 'provider';
  return `WITH asked AS (
      SELECT width_bucket(started_at::float8, $1::float8[]) AS slot, seq, outcome, status, key_id, group_id, shadow_of, model_asked, model_served,
        provider, capability, method, usage, ${readableAttempts} AS attempts, cost_usd, fault, error_code
      FROM requests
      WHERE started_at >= $3 AND started_at < $4 AND outcome IS NOT NULL
        AND ${orMoved('day BETWEEN floor($3::float8 / 86400000)::integer AND floor($4::float8 / 86400000)::integer')}
        AND ($5::text[] IS NULL OR key_id = ANY($5) OR group_id = ANY($6::text[]))
    )
    SELECT slot AS step, name, ${summedColumns} FROM (${requestsSql(by)}${isOfAttempts ? ` UNION ALL ${attemptsSql(by)}` : ''}) AS counted
    WHERE $2::text[] IS NULL OR name = ANY($2) GROUP BY slot, name`;
}

/** One row per request. By model and provider, the usage of requests with several attempts comes from `attemptsSql`. */
function requestsSql(by: UsageDimension): string {
  const condition =
    by === 'model' || by === 'provider' ? 'attempts IS NULL OR json_array_length(attempts) < 2' : 'true';
  const unpriced = `coalesce((CASE WHEN cost_usd IS NULL THEN provider IS NOT NULL AND capability IS NOT NULL
      AND (method = 'POST' OR usage IS NOT NULL) AND (outcome <> 'error' OR usage IS NOT NULL OR error_code = '${lostPurchaseCode}')
    ELSE json_array_length(attempts) > 1
      AND EXISTS (SELECT FROM json_array_elements(attempts) AS attempt WHERE ${unpricedAttempt}) END)::integer, 0)`;
  const amount = (name: string) => `coalesce((usage ->> '${name}')::float8, 0)`;
  return `SELECT slot, ${nameColumns[by]} AS name, 1 AS requests, (outcome NOT IN ('ok', 'client-gone') AND fault IS NULL)::integer AS errors,
      (outcome = 'error' AND fault IS NULL AND provider IS NULL AND coalesce(status, 0) BETWEEN 400 AND 499)::integer AS refused,
      ${usageColumns.map(([name, column]) => `CASE WHEN ${condition} THEN ${amount(name)} ELSE 0 END AS ${column}`).join(', ')},
      CASE WHEN ${condition} THEN coalesce(cost_usd, 0) ELSE 0 END AS cost_usd,
      CASE WHEN ${condition} THEN ${unpriced} ELSE 0 END AS unpriced_requests
    FROM asked`;
}

const unpricedAttempt = `attempt ->> 'costUsd' IS NULL AND (attempt ->> 'usage' IS NOT NULL
  OR coalesce(attempt ->> 'failure', 'client-gone') IN ('client-gone', 'stream-broken', 'lost'))`;

/** The usage of each attempt, by its model or provider. An unknown cost counts once per request and name. */
function attemptsSql(by: 'model' | 'provider'): string {
  const name = by === 'model' ? "coalesce(attempt ->> 'model', model_asked, '')" : "attempt ->> 'provider'";
  return `SELECT slot, ${name} AS name, 0 AS requests, 0 AS errors, 0 AS refused,
      ${usageColumns.map(([name, column]) => `sum(coalesce((attempt #>> '{usage,${name}}')::float8, 0)) AS ${column}`).join(', ')},
      sum(coalesce((attempt ->> 'costUsd')::float8, 0)) AS cost_usd, max((${unpricedAttempt})::integer) AS unpriced_requests
    FROM asked, json_array_elements(attempts) AS attempt WHERE json_array_length(attempts) > 1 GROUP BY slot, seq, 2`;
}
