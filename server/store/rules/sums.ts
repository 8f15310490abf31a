/** Usage totals: their columns, and their addition. */

import { type Condition, failed, refused, unpriced, unpricedAttempts } from '../../contract/count.ts';
import type { UsageDimension, UsageTotals } from '../../contract/ledger.ts';
import { number, type Row } from './columns.ts';
import {
  allOf,
  asNumber,
  attemptCount,
  attemptSql,
  isAmong,
  raw,
  rowSql,
  type Sql,
  type SqlNotation,
  sql,
} from './condition-sql.ts';

/** `costUsd` is the sum of the known costs. */
export type Sums = Omit<UsageTotals, 'costUsd'> & { costUsd: number };

/** The amounts of a request's or attempt's usage, and their columns. */
const usageColumns = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cachedInputTokens', 'cached_input_tokens'],
  ['reasoningTokens', 'reasoning_tokens'],
  ['seconds', 'seconds'],
  ['characters', 'characters'],
  ['images', 'images'],
] as const satisfies readonly (readonly [keyof Sums, string])[];

/** The column `errors` has the failed and the refused together, as it always has. */
const columns = [
  ['requests', 'requests'],
  ['failed', 'errors'],
  ['refused', 'refused'],
  ...usageColumns,
  ['costUsd', 'cost_usd'],
  ['unpricedRequests', 'unpriced_requests'],
] as const satisfies readonly (readonly [keyof Sums, string])[];

export const sumColumns = columns.map(([, column]) => column);

export const noSums: Readonly<Sums> = {
  requests: 0,
  failed: 0,
  refused: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  seconds: 0,
  characters: 0,
  images: 0,
  costUsd: 0,
  unpricedRequests: 0,
};

/** Adds them up. */
export const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** In the order of `sumColumns`. */
export function sumValues(sums: Readonly<Sums>): number[] {
  return columns.map(([name]) => (name === 'failed' ? sums.failed + sums.refused : sums[name]));
}

/** Missing columns count as 0. */
export function readSums(row: Row): Sums {
  const sums = { ...noSums };
  for (const [name, column] of columns) sums[name] = number(row[column]) ?? 0;
  sums.failed -= sums.refused;
  return sums;
}

export function addInto(sums: Sums, more: Readonly<Sums>): void {
  for (const [name] of columns) sums[name] += more[name];
}

export function takeFrom(sums: Sums, less: Readonly<Sums>): void {
  for (const [name] of columns) sums[name] -= less[name];
}

/** The cost for display; null, not 0, if no cost is known. */
export function displayedCost({ costUsd, unpricedRequests }: Readonly<Sums>): number | null {
  return costUsd === 0 && unpricedRequests > 0 ? null : costUsd;
}

// What `countOf` says of a request, as SQL for both databases: a row for each part, to be added up by name.

/** Of a question about usage: by what, only these names (absent: all). */
interface Named {
  by: UsageDimension;
  names?: readonly string[] | undefined;
}

/** The stored sums of a dimension in a range of quarters or days since 1970; `to` is exclusive. */
export function storedSums(
  time: 'quarter' | 'day',
  { by, names, from, to }: Named & { from: number; to: number },
): Sql {
  const range = [sql`dimension = ${by}`, sql`${raw(time)} >= ${from}`, sql`${raw(time)} < ${to}`];
  return allOf([...range, ...ofNames(names)]);
}

const ofNames = (names: Named['names']) => (names === undefined ? [] : [isAmong('name', names)]);

/** The sums of requests that have ended, by `slot` and name. `slot`: what of a row says to which step it belongs. */
export function countedRequests({ by, names, slot, condition }: Named & { slot: Sql; condition: Sql }): Sql {
  const counts: Sql = ({ notation }) => countsSql(by, notation);
  return sql`WITH asked AS (SELECT ${slot} AS slot, requests.* FROM requests WHERE outcome IS NOT NULL AND ${condition})
    SELECT slot, name, ${raw(summedColumns)} FROM (${counts}) AS counted
    WHERE ${allOf(ofNames(names))} GROUP BY slot, name`;
}

/**
 * Reads the table `asked`, which has the columns of `requests` and `slot`. By model and provider, the usage of requests with
 * several attempts is that of the attempts.
 */
function countsSql(by: UsageDimension, notation: SqlNotation): string {
  const isOfAttempts = by === 'model' || by === 'provider';
  const requests = requestsSql(by, notation);
  return isOfAttempts ? `${requests} UNION ALL ${attemptsSql(by, notation)}` : requests;
}

const amount = (text: string) => `coalesce(CAST(${text} AS double precision), 0)`;

function requestsSql(by: UsageDimension, notation: SqlNotation): string {
  const isWhole = by === 'model' || by === 'provider' ? `${attemptCount} < 2` : '1 = 1';
  const ifWhole = (sql: string) => `CASE WHEN ${isWhole} THEN ${sql} ELSE 0 END`;
  const isTrue = <T>(condition: Condition<T>) => asNumber(rowSql(condition, notation));
  return `SELECT slot, ${nameColumns[by]} AS name, 1 AS requests,
      ${isTrue({ any: [failed, refused] })} AS errors, ${isTrue(refused)} AS refused,
      ${usageColumns.map(([name, column]) => `${ifWhole(amount(`usage ->> '${name}'`))} AS ${column}`).join(', ')},
      ${ifWhole('coalesce(cost_usd, 0)')} AS cost_usd, ${ifWhole(isTrue(unpriced))} AS unpriced_requests
    FROM asked`;
}

/** An unknown cost counts once per request and name. */
function attemptsSql(by: 'model' | 'provider', notation: SqlNotation): string {
  const { attemptMember, attempts } = notation;
  const name = by === 'model' ? `coalesce(${attemptMember('model')}, model_asked, '')` : attemptMember('provider');
  const usage = (member: string) => notation.attemptMember(`usage.${member}`);
  return `SELECT slot, ${name} AS name, 0 AS requests, 0 AS errors, 0 AS refused,
      ${usageColumns.map(([member, column]) => `sum(${amount(usage(member))}) AS ${column}`).join(', ')},
      sum(${amount(attemptMember('costUsd'))}) AS cost_usd,
      max(${asNumber(attemptSql(unpricedAttempts, notation))}) AS unpriced_requests
    FROM asked, ${attempts} WHERE ${attemptCount} > 1 GROUP BY slot, seq, 2`;
}

/** As `shadowAccount`. */
function accountSql(column: 'key_id' | 'group_id'): string {
  return `CASE WHEN shadow_of IS NULL THEN coalesce(${column}, '') ELSE 'shadow:' || coalesce(group_id, '') END`;
}

/** The name under which a row of `requests` is counted, as SQL for both SQLite and PostgreSQL; empty: none. */
export const nameColumns: Readonly<Record<UsageDimension, string>> = {
  day: "''",
  key: accountSql('key_id'),
  group: accountSql('group_id'),
  model: "coalesce(model_served, model_asked, '')",
  provider: "coalesce(provider, '')",
};
