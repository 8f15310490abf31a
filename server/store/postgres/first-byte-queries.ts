import type { FirstByteView } from '../../contract/request-views.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { number, text } from '../rules/columns.ts';
import { nameColumns } from '../rules/counts-sql.ts';
import { FirstByteSteps, isSampled, samplesPerStep } from '../rules/first-byte-steps.ts';
import type { FirstByteQuery } from '../rules/usage-query.ts';
import { type AskedStep, askedSteps } from '../rules/usage-within.ts';
import { movedDaysSql } from './partitions.ts';
import type { Postgres } from './postgres.ts';

/** In chronological order. */
export async function firstByteTimes(postgres: Postgres, question: FirstByteQuery): Promise<FirstByteView> {
  const { by = 'day', names, stepMs } = question;
  const steps = askedSteps(question);
  if (steps.length === 0) return new FirstByteSteps(by, names).view;
  const moved = await postgres.ask(movedDaysSql);
  const movedDays = moved.rows.map(({ day }) => number(day) ?? 0);
  const countSql = stepMs % quarterMs === 0 ? countInSums : countInRequests;
  const pieces = steps.map(
    (
      step,
      stepIndex,
    ) => `(SELECT ${stepIndex} AS place, first_byte_ms, ${nameColumns[by]} AS name, (${countSql(step, movedDays)}) AS requests
      FROM requests WHERE ${inStep(step, movedDays)} AND ${isSampled}
      ORDER BY started_at DESC LIMIT ${samplesPerStep})`,
  );
  const { rows } = await postgres.ask(pieces.join(' UNION ALL '));
  const rowsByStep = Map.groupBy(rows, ({ place }) => number(place) ?? 0);
  const firstByteSteps = new FirstByteSteps(by, names);
  for (const [stepIndex, { startMs }] of steps.entries()) {
    const sampled = rowsByStep.get(stepIndex) ?? [];
    const weight = (number(sampled[0]?.requests) ?? 0) / sampled.length;
    const samples = sampled.map((row) => ({
      valueMs: number(row.first_byte_ms) ?? 0,
      name: text(row.name) ?? '',
      weight,
    }));
    firstByteSteps.add(startMs, samples);
  }
  return firstByteSteps.view;
}

/**
 * The numbers are part of the statement instead of parameters. Only then does PostgreSQL know how few rows match, and
 * reads just those.
 */
const inStep = ({ sinceMs, untilMs }: AskedStep, movedDays: readonly number[]) =>
  `(day BETWEEN ${Math.floor(sinceMs / dayMs)} AND ${Math.floor(untilMs / dayMs)}${movedDays.map((day) => ` OR day = ${day}`).join('')}) AND started_at >= ${sinceMs} AND started_at < ${untilMs}`;

/** The number of requests that the samples of a step represent. */
const countInRequests = (step: AskedStep, movedDays: readonly number[]) =>
  `SELECT count(*) FROM requests WHERE ${inStep(step, movedDays)}`;
const countInSums = ({
  sinceMs,
  untilMs,
}: AskedStep) => `SELECT sum(requests) FROM usage_quarters WHERE dimension = 'day'
  AND quarter >= ${Math.floor(sinceMs / quarterMs)} AND quarter < ${Math.ceil(untilMs / quarterMs)}`;
