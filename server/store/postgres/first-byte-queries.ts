import type { FirstByteView } from '../../contract/request-views.ts';
import { number, text } from '../../database/columns.ts';
import { FirstByteSteps, samplesPerStep } from '../../ledger/first-byte-steps.ts';
import type { FirstByteQuestion } from '../../ledger/over-time.ts';
import { quarterMs } from '../../ledger/usage-cells.ts';
import type { Postgres } from './postgres.ts';
import { nameColumns } from './request-steps.ts';

const dayMs = 86_400_000;
const withinStep = `day BETWEEN floor(given.since / ${dayMs})::integer AND floor(given.until / ${dayMs})::integer
  AND started_at >= given.since AND started_at < given.until`;
/** The number of requests that a step's samples represent. */
const countInRequests = `SELECT count(*) AS requests FROM requests WHERE ${withinStep}`;
const countInSums = `SELECT sum(requests) AS requests FROM usage_quarters WHERE dimension = 'day'
  AND quarter >= floor(given.since / ${quarterMs}) AND quarter < ceil(given.until / ${quarterMs})`;

/** In order of time. */
export async function firstByteTimes(postgres: Postgres, question: FirstByteQuestion): Promise<FirstByteView> {
  const { by = 'day', names, stepMs } = question;
  const steps = stepsOf(question);
  const { rows } = await postgres.ask(
    `SELECT given.place, first_byte_ms, name, requests
     FROM unnest($1::integer[], $2::float8[], $3::float8[]) AS given (place, since, until),
       LATERAL (
         SELECT first_byte_ms, ${nameColumns[by]} AS name FROM requests
         WHERE ${withinStep} AND first_byte_ms IS NOT NULL AND shadow_of IS NULL
         ORDER BY seq DESC LIMIT ${samplesPerStep}
       ) AS sampled,
       LATERAL (${stepMs % quarterMs === 0 ? countInSums : countInRequests}) AS counted`,
    steps.map((_, place) => place),
    steps.map(({ sinceMs }) => sinceMs),
    steps.map(({ untilMs }) => untilMs),
  );
  const byPlace = Map.groupBy(rows, ({ place }) => number(place) ?? 0);
  const found = new FirstByteSteps(by, names);
  for (const [place, { startMs }] of steps.entries()) {
    const sampled = byPlace.get(place) ?? [];
    const weight = (number(sampled[0]?.requests) ?? 0) / sampled.length;
    const samples = sampled.map((row) => ({
      valueMs: number(row.first_byte_ms) ?? 0,
      name: text(row.name) ?? '',
      weight,
    }));
    found.add(startMs, samples);
  }
  return found.view;
}

interface Step {
  /** Of the whole step. */
  startMs: number;
  /** Of what is asked for of it. */
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
}

function stepsOf({ sinceMs, untilMs, stepMs, utcOffsetMinutes = 0 }: FirstByteQuestion): Step[] {
  const offsetMs = utcOffsetMinutes * 60_000;
  const steps: Step[] = [];
  for (let atMs = sinceMs; atMs < untilMs; ) {
    const startMs = Math.floor((atMs + offsetMs) / stepMs) * stepMs - offsetMs;
    const nextMs = Math.min(startMs + stepMs, untilMs);
    steps.push({ startMs, sinceMs: atMs, untilMs: nextMs });
    atMs = nextMs;
  }
  return steps;
}
