/** What `countOf` says of a request, as SQL for both databases: a row for each part, to be added up by name. */
import type { Condition } from '../../contract/condition.ts';
import { unpriced, unpricedAttempts } from '../../contract/count.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import { errors, refused } from '../../contract/request-errors.ts';
import { asNumber, attemptCount, attemptSql, rowSql, type SqlNotation } from './condition-sql.ts';
import { nameColumns } from './counted-names.ts';
import { usageColumns } from './sums.ts';

/**
 * Reads the table `asked`, which has the columns of `requests` and `place`. By model and provider, the usage of requests with
 * several attempts is that of the attempts.
 */
export function countsSql(by: UsageDimension, place: string, notation: SqlNotation): string {
  const isOfAttempts = by === 'model' || by === 'provider';
  const requests = requestsSql(by, place, notation);
  return isOfAttempts ? `${requests} UNION ALL ${attemptsSql(by, place, notation)}` : requests;
}

const amount = (text: string) => `coalesce(CAST(${text} AS double precision), 0)`;

function requestsSql(by: UsageDimension, place: string, notation: SqlNotation): string {
  const isWhole = by === 'model' || by === 'provider' ? `${attemptCount} < 2` : '1 = 1';
  const ifWhole = (sql: string) => `CASE WHEN ${isWhole} THEN ${sql} ELSE 0 END`;
  const isTrue = <T>(condition: Condition<T>) => asNumber(rowSql(condition, notation));
  return `SELECT ${place}, ${nameColumns[by]} AS name, 1 AS requests, ${isTrue(errors)} AS errors, ${isTrue(refused)} AS refused,
      ${usageColumns.map(([name, column]) => `${ifWhole(amount(`usage ->> '${name}'`))} AS ${column}`).join(', ')},
      ${ifWhole('coalesce(cost_usd, 0)')} AS cost_usd, ${ifWhole(isTrue(unpriced))} AS unpriced_requests
    FROM asked`;
}

/** An unknown cost counts once per request and name. */
function attemptsSql(by: 'model' | 'provider', place: string, notation: SqlNotation): string {
  const { attemptMember, attempts } = notation;
  const name = by === 'model' ? `coalesce(${attemptMember('model')}, model_asked, '')` : attemptMember('provider');
  const usage = (member: string) => notation.attemptMember(`usage.${member}`);
  return `SELECT ${place}, ${name} AS name, 0 AS requests, 0 AS errors, 0 AS refused,
      ${usageColumns.map(([member, column]) => `sum(${amount(usage(member))}) AS ${column}`).join(', ')},
      sum(${amount(attemptMember('costUsd'))}) AS cost_usd,
      max(${asNumber(attemptSql(unpricedAttempts, notation))}) AS unpriced_requests
    FROM asked, ${attempts} WHERE ${attemptCount} > 1 GROUP BY ${place}, seq, 2`;
}
