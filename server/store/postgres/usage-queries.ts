/** Usage over a range, from the sums: whole days where possible, and quarter-hours before and after them. */

import type { Within } from '../../contract/people.ts';
import type { UsageStepView, UsageView } from '../../contract/request-views.ts';
import { dayMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { displayedCost, readSums, sumColumns } from '../rules/sums.ts';
import type { UsageOverTimeQuery, UsageQuery } from '../rules/usage-query.ts';
import { byCost, stepsOf, summaryOf, type UsageStep } from '../rules/usage-within.ts';
import { viewStep } from '../sqlite/over-time.ts';
import { quarterMs, quartersPerDay } from '../sqlite/usage-cells.ts';
import type { Postgres } from './postgres.ts';
import { stepsOfRequestsSql } from './request-steps.ts';

const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
export async function summarizeUsage(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  const { within } = question;
  if (within) return summaryOf(await readSteps(postgres, stepsOf({ ...question, within })), question);
  return question.by === 'day' ? summarizeDays(postgres, question) : summarizeNames(postgres, question);
}

/** Later than every quarter that a table can hold. */
const lastQuarter = 2 ** 31 - 1 - quartersPerDay;

function quartersOf({ sinceMs, untilMs }: UsageQuery): [from: number, to: number] {
  return [
    sinceMs === undefined ? 0 : Math.max(0, Math.floor(sinceMs / quarterMs)),
    untilMs === undefined ? lastQuarter : Math.min(lastQuarter, Math.ceil(untilMs / quarterMs)),
  ];
}

async function summarizeDays(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  const offsetMs = (question.utcOffsetMinutes ?? 0) * 60_000;
  const { rows } = await postgres.ask(
    `SELECT floor((quarter * ${quarterMs}::float8 + $3) / ${dayMs}) AS day, ${summedColumns} FROM usage_quarters
     WHERE dimension = 'day' AND quarter >= $1 AND quarter < $2 GROUP BY 1 ORDER BY 1`,
    ...quartersOf(question),
    offsetMs,
  );
  return rows.map((row) => viewOf(new Date((number(row.day) ?? 0) * dayMs).toISOString().slice(0, 10), row));
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

async function readSteps(postgres: Postgres, question: UsageOverTimeQuery): Promise<UsageStep[]> {
  const { by, names = null, sinceMs, untilMs, stepMs, within } = question;
  const offsetMs = (question.utcOffsetMinutes ?? 0) * 60_000;
  const fromCells = within === undefined && stepMs % quarterMs === 0;
  const [from, to] = quartersOf(question);
  const { rows } = fromCells
    ? await postgres.ask(stepsOfQuartersSql, offsetMs, stepMs, names, from, to, by)
    : await postgres.ask(stepsOfRequestsSql(by), offsetMs, stepMs, names, sinceMs, untilMs, ...partOf(within));
  return rows.map((row) => ({
    ...readSums(row),
    startMs: (number(row.step) ?? 0) * stepMs - offsetMs,
    name: text(row.name) || null,
  }));
}

const partOf = (within: Within | undefined) => [within?.keyIds ?? null, within?.groupIds ?? null] as const;

const stepsOfQuartersSql = `SELECT floor((quarter * ${quarterMs}::float8 + $1) / $2) AS step, name, ${summedColumns}
  FROM usage_quarters WHERE dimension = $6 AND quarter >= $4 AND quarter < $5 AND ($3::text[] IS NULL OR name = ANY($3))
  GROUP BY 1, 2 ORDER BY 1`;
