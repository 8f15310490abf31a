/** Usage over a range, from the sums: whole days where possible, and quarter-hours before and after them. */

import type { UsageStepView, UsageView } from '../../contract/request-views.ts';
import { quarterMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { raw, type Sql, sql } from '../rules/condition-sql.ts';
import { countedRequests, storedSums } from '../rules/counts-sql.ts';
import { displayedCost, readSums, sumColumns, summedColumns } from '../rules/sums.ts';
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
import { type Postgres, readRows } from './postgres.ts';
import { conditionOf } from './request-conditions.ts';

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
  const cells = (time: 'quarter' | 'day', first: number, end: number) =>
    sql`SELECT name, ${raw(sumColumns.join(', '))} FROM ${raw(time === 'day' ? 'usage_days' : 'usage_quarters')}
      WHERE ${storedSums(time, { ...question, from: first, to: end })}`;
  const before = cells('quarter', from, Math.min(to, firstDay * quartersPerDay));
  const days = cells('day', firstDay, endDay);
  const after = cells('quarter', endDay * quartersPerDay, to);
  const rows = await readRows(
    postgres,
    sql`SELECT name, ${raw(summedColumns)} FROM (${before} UNION ALL ${days} UNION ALL ${after}) AS cells GROUP BY name`,
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
  const question = await ofKeptTime(postgres, counted(asked));
  const { sinceMs, untilMs, within, by, names } = question;
  const starts = calendarFor(question)
    .stepsOf(question.stepMs, question)
    .map(({ startMs }) => startMs);
  if (starts.length === 0) return [];
  const rows = await readRows(
    postgres,
    isOfSums(question)
      ? stepsOfQuarters(question, starts)
      : countedRequests({
          ...{ by, names, slot: slotOf('started_at::float8', starts) },
          condition: await conditionOf(postgres, { sinceMs, untilMs, ...(within && { within }) }),
        }),
  );
  return rows
    .map((row) => ({
      ...readSums(row),
      startMs: starts[(number(row.slot) ?? 1) - 1] ?? 0,
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

/** The place of the step, from 1, to which the time belongs. */
const slotOf =
  (time: string, starts: readonly number[]): Sql =>
  ({ value }) =>
    `width_bucket(${time}, ${value(starts)}::float8[])`;

function stepsOfQuarters(question: UsageOverTimeQuery, starts: readonly number[]): Sql {
  const [from, to] = quartersOf(question);
  const slot = slotOf(`quarter * ${quarterMs}::float8`, starts);
  return sql`SELECT ${slot} AS slot, name, ${raw(summedColumns)} FROM usage_quarters
    WHERE ${storedSums('quarter', { ...question, from, to })} GROUP BY 1, 2`;
}
