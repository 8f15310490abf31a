/** Usage in steps shorter than those of the sums, computed from the requests themselves. */
import type { UsageDimension } from '../../contract/ledger.ts';
import { postgresNotation } from '../rules/condition-sql.ts';
import { countsSql } from '../rules/counts-sql.ts';
import { sumColumns } from '../rules/sums.ts';
import { orMoved } from './partitions.ts';

const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/**
 * `step`: the place of its beginning, from 1. Parameters: the beginnings of the steps, names or null, the range in Unix
 * milliseconds, and the keys and groups whose requests are included, or null twice.
 */
export function stepsOfRequestsSql(by: UsageDimension): string {
  return `WITH asked AS (
      SELECT width_bucket(started_at::float8, $1::float8[]) AS slot, requests.* FROM requests
      WHERE started_at >= $3 AND started_at < $4 AND outcome IS NOT NULL
        AND ${orMoved('day BETWEEN floor($3::float8 / 86400000)::integer AND floor($4::float8 / 86400000)::integer')}
        AND ($5::text[] IS NULL OR key_id = ANY($5) OR group_id = ANY($6::text[]))
    )
    SELECT slot AS step, name, ${summedColumns} FROM (${countsSql(by, 'slot', postgresNotation)}) AS counted
    WHERE $2::text[] IS NULL OR name = ANY($2) GROUP BY slot, name`;
}
