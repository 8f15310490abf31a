/** Usage over a range, from the sums: whole days where possible, and quarter-hours before and after them. */

import type { UsageDimension } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';
import type { UsageStepView, UsageView } from '../../contract/request-views.ts';
import { quarterMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { postgresNotation } from '../rules/condition-sql.ts';
import { countsSql } from '../rules/counts-sql.ts';
import { displayedCost, readSums, sumColumns } from '../rules/sums.ts';
import type { UsageOverTimeQuery, UsageQuery } from '../rules/usage-query.ts';
import {
  byCost,
  calendarFor,
  compareNames,
  counted,
  isOfSums,
  stepsOf,
  summaryOf,
  type UsageStep,
} from '../rules/usage-within.ts';
import { viewStep } from '../sqlite/over-time.ts';
import { quartersPerDay } from '../sqlite/usage-cells.ts';
import { orMoved } from './partitions.ts';
import type { Postgres } from './postgres.ts';

const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
export async function summarizeUsage(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  if (question.within || question.by === 'day')
    return summaryOf(await readSteps(postgres, stepsOf(question)), question);
  return summarizeNames(postgres, question);
}

/** Later than every quarter that a table can hold. */
const lastQuarter = 2 ** 31 - 1 - quartersPerDay;

function quartersOf({ sinceMs, untilMs }: Pick<UsageQuery, 'sinceMs' | 'untilMs'>): [from: number, to: number] {
  return [
    sinceMs === undefined ? 0 : Math.max(0, Math.floor(sinceMs / quarterMs)),
    untilMs === undefined ? lastQuarter : Math.min(lastQuarter, Math.ceil(untilMs / quarterMs)),
  ];
}

async function summarizeNames(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  const [from, to] = quartersOf(question);
  const firstDay = Math.ceil(from / quartersPerDay);
  const endDay = Math.max(firstDay, Math.floor(to / quartersPerDay));
  const { by, names } = question;
  const nameCondition = names === undefined ? '' : 'AND name = ANY($2)';
  const select = (table: string, time: string, first: number, end: number) =>
    `SELECT name, ${sumColumns.join(', ')} FROM ${table}
     WHERE dimension = $1 AND ${time} >= ${first} AND ${time} < ${end} ${nameCondition}`;
  const parts = [
    select('usage_quarters', 'quarter', from, Math.min(to, firstDay * quartersPerDay)),
    select('usage_days', 'day', firstDay, endDay),
    select('usage_quarters', 'quarter', endDay * quartersPerDay, to),
  ];
  const { rows } = await postgres.ask(
    `SELECT name, ${summedColumns} FROM (${parts.join(' UNION ALL ')}) AS cells GROUP BY name`,
    by,
    ...(names === undefined ? [] : [names]),
  );
  return rows.map((row) => viewOf(text(row.name), row)).sort(byCost);
}

function viewOf(name: string | null, row: Row): UsageView {
  const sums = readSums(row);
  return { ...sums, name: name || null, costUsd: displayedCost(sums) };
}

/** In chronological order. */
export async function usageOverTime(postgres: Postgres, question: UsageOverTimeQuery): Promise<UsageStepView[]> {
  return (await readSteps(postgres, question)).map(viewStep);
}

async function readSteps(postgres: Postgres, asked: UsageOverTimeQuery): Promise<UsageStep[]> {
  const { by, names = null, within, ...question } = await ofKeptTime(postgres, counted(asked));
  const { sinceMs, untilMs } = question;
  const starts = calendarFor(question)
    .stepsOf(question.stepMs, question)
    .map(({ startMs }) => startMs);
  if (starts.length === 0) return [];
  const { rows } = isOfSums({ ...question, within })
    ? await postgres.ask(stepsOfQuartersSql, starts, names, ...quartersOf(question), by)
    : await postgres.ask(stepsOfRequestsSql(by), starts, names, sinceMs, untilMs, ...partOf(within));
  return rows
    .map((row) => ({
      ...readSums(row),
      startMs: starts[(number(row.step) ?? 1) - 1] ?? 0,
      name: text(row.name) || null,
    }))
    .sort((one, other) => one.startMs - other.startMs || compareNames(one.name, other.name));
}

/** The question limited to the time of which there is usage: since 1970 there are many days. */
async function ofKeptTime(postgres: Postgres, question: UsageOverTimeQuery): Promise<UsageOverTimeQuery> {
  const { rows } = await postgres.ask(
    "SELECT min(quarter) AS first, max(quarter) AS last FROM usage_quarters WHERE dimension = 'day'",
  );
  const [first, last] = [number(rows[0]?.first), number(rows[0]?.last)];
  if (first === null || last === null) return { ...question, untilMs: question.sinceMs };
  const { sinceMs, untilMs } = question;
  return {
    ...question,
    sinceMs: Math.max(sinceMs, first * quarterMs),
    untilMs: Math.min(untilMs, (last + 1) * quarterMs),
  };
}

const partOf = (within: Within | undefined) => [within?.keyIds ?? null, within?.groupIds ?? null] as const;

/** `step`: the place of its beginning, from 1. */
const stepsOfQuartersSql = `SELECT width_bucket(quarter * ${quarterMs}::float8, $1::float8[]) AS step, name, ${summedColumns}
  FROM usage_quarters WHERE dimension = $5 AND quarter >= $3 AND quarter < $4 AND ($2::text[] IS NULL OR name = ANY($2))
  GROUP BY 1, 2`;

/**
 * `step`: the place of its beginning, from 1. Parameters: the beginnings of the steps, names or null, the range in Unix
 * milliseconds, and the keys and groups whose requests are included, or null twice.
 */
function stepsOfRequestsSql(by: UsageDimension): string {
  return `WITH asked AS (
      SELECT width_bucket(started_at::float8, $1::float8[]) AS slot, requests.* FROM requests
      WHERE started_at >= $3 AND started_at < $4 AND outcome IS NOT NULL
        AND ${orMoved('day BETWEEN floor($3::float8 / 86400000)::integer AND floor($4::float8 / 86400000)::integer')}
        AND ($5::text[] IS NULL OR key_id = ANY($5) OR group_id = ANY($6::text[]))
    )
    SELECT slot AS step, name, ${summedColumns} FROM (${countsSql(by, 'slot', postgresNotation)}) AS counted
    WHERE $2::text[] IS NULL OR name = ANY($2) GROUP BY slot, name`;
}
