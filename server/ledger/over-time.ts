/**
 * What happened when, in steps of equal length: usage and times to the first byte. As in `queries.ts`, each question is
 * asked in pieces, with everything else having its turn in between.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database, Row } from '../database.ts';
import { number, text } from './rows.ts';
import { seekSeq } from './seek.ts';
import { type Dimension, quarterMs } from './usage-cells.ts';

export interface OverTimeQuestion {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** Whole quarters of an hour are answered from the sums, anything else from the requests, which takes longer. */
  stepMs: number;
  /** What local time is ahead of UTC; decides where days begin. */
  utcOffsetMinutes?: number;
}

export interface UsageOverTimeQuestion extends OverTimeQuestion {
  /** `day`: all together. */
  by: Dimension;
  /** Only these; the empty name stands for what has none. */
  names?: string[];
}

/** Steps in which nothing happened are left out. */
export interface UsageStep {
  /** Unix milliseconds. */
  startMs: number;
  name: string | null;
  requests: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

export interface FirstByteStep {
  startMs: number;
  /** Requests that it was learnt from. */
  samples: number;
  medianMs: number;
  p95Ms: number;
}

export interface FirstByteTimes {
  steps: FirstByteStep[];
  /** Of all steps, each weighing as much as it had requests; null if there is none. */
  medianMs: number | null;
  p95Ms: number | null;
}

const rowsPerPiece = 4_000;
const quartersPerPiece = 4 * 96;
/** The newest of a step stand for all of it, so that an answer takes as long at a million requests as at twenty thousand. */
const samplesPerStep = 400;

export async function usageOverTime(database: Database, question: UsageOverTimeQuestion): Promise<UsageStep[]> {
  const { by, names } = question;
  const isNamed = names === undefined ? '' : ` AND name IN (${names.map(() => '?').join(', ')})`;
  const found = new Map<string, UsageStep>();
  const fromCells = question.stepMs % quarterMs === 0;
  const select = database.prepare(fromCells ? cellsSql(isNamed) : rowsSql(by, isNamed));
  const grid = [offsetMsOf(question), question.stepMs] as const;
  const [low, high] = fromCells ? quartersOf(question) : placesOf(database, question);
  const perPiece = fromCells ? quartersPerPiece : rowsPerPiece;
  for (let from = low; from < high; from += perPiece) {
    const range = [from, Math.min(from + perPiece, high)] as const;
    const which = fromCells ? [by, ...range] : [...range, question.sinceMs, question.untilMs];
    for (const row of select.all(...grid, ...which, ...(names ?? []))) addUp(found, toStep(row, question));
    await setImmediate();
  }
  return [...found.values()].sort((a, b) => a.startMs - b.startMs);
}

const sums = `sum(requests) AS requests, sum(errors) AS errors, sum(input_tokens) AS input_tokens,
  sum(output_tokens) AS output_tokens, sum(cost_usd) AS cost_usd`;

function cellsSql(isNamed: string): string {
  return `SELECT CAST((quarter * ${quarterMs} + ?) / ? AS INTEGER) AS step, name, ${sums} FROM usage_cells
    WHERE dimension = ? AND quarter >= ? AND quarter < ?${isNamed} GROUP BY step, name`;
}

const nameColumns: Record<Dimension, string> = {
  day: "''",
  key: "coalesce(key_id, '')",
  group: "coalesce(group_id, '')",
  model: "coalesce(model_served, model_asked, '')",
  provider: "coalesce(provider, '')",
};

/** Counts as `usage-cells.ts` does. */
function rowsSql(by: Dimension, isNamed: string): string {
  return `SELECT step, name, ${sums} FROM (
      SELECT CAST((started_at + ?) / ? AS INTEGER) AS step, ${nameColumns[by]} AS name, 1 AS requests,
        outcome NOT IN ('ok', 'client-gone') AS errors, coalesce(usage ->> 'inputTokens', 0) AS input_tokens,
        coalesce(usage ->> 'outputTokens', 0) AS output_tokens, coalesce(cost_usd, 0) AS cost_usd
      FROM requests WHERE seq >= ? AND seq < ? AND started_at >= ? AND started_at < ? AND outcome IS NOT NULL)
    WHERE 1${isNamed} GROUP BY step, name`;
}

function toStep(row: Row, question: OverTimeQuestion): UsageStep {
  return {
    startMs: (number(row.step) ?? 0) * question.stepMs - offsetMsOf(question),
    name: text(row.name) || null,
    requests: number(row.requests) ?? 0,
    errors: number(row.errors) ?? 0,
    inputTokens: number(row.input_tokens) ?? 0,
    outputTokens: number(row.output_tokens) ?? 0,
    costUsd: number(row.cost_usd) ?? 0,
  };
}

/** A step may begin in one piece and end in the next. */
function addUp(found: Map<string, UsageStep>, more: UsageStep): void {
  const id = `${more.startMs} ${more.name ?? ''}`;
  const sum = found.get(id);
  if (sum === undefined) {
    found.set(id, more);
    return;
  }
  sum.requests += more.requests;
  sum.errors += more.errors;
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  sum.costUsd += more.costUsd;
}

interface WeightedSample {
  valueMs: number;
  /** How many requests it stands for. */
  weight: number;
}

export async function firstByteTimes(database: Database, question: OverTimeQuestion): Promise<FirstByteTimes> {
  const select = database.prepare(
    `SELECT first_byte_ms FROM requests
     WHERE seq >= ? AND seq < ? AND first_byte_ms IS NOT NULL ORDER BY seq DESC LIMIT ${samplesPerStep}`,
  );
  const { sinceMs, untilMs, stepMs } = question;
  const offsetMs = offsetMsOf(question);
  const steps: FirstByteStep[] = [];
  const all: WeightedSample[] = [];
  for (let atMs = sinceMs; atMs < untilMs; ) {
    const startMs = Math.floor((atMs + offsetMs) / stepMs) * stepMs - offsetMs;
    const nextMs = Math.min(startMs + stepMs, untilMs);
    const [low, high] = placesOf(database, { sinceMs: atMs, untilMs: nextMs });
    const values = select.all(low, high).map((row) => number(row.first_byte_ms) ?? 0);
    const samples = values.map((valueMs) => ({ valueMs, weight: (high - low) / values.length }));
    if (samples.length > 0) steps.push({ startMs, samples: samples.length, ...quantilesOf(samples) });
    all.push(...samples);
    atMs = nextMs;
    await setImmediate();
  }
  return { steps, medianMs: null, p95Ms: null, ...(all.length > 0 && quantilesOf(all)) };
}

function quantilesOf(samples: WeightedSample[]): { medianMs: number; p95Ms: number } {
  const sorted = samples.toSorted((a, b) => a.valueMs - b.valueMs);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const at = (share: number) => {
    let left = share * total;
    for (const { valueMs, weight } of sorted) {
      left -= weight;
      if (left <= 1e-9) return valueMs;
    }
    return sorted.at(-1)?.valueMs ?? 0;
  };
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}

const offsetMsOf = (question: OverTimeQuestion) => (question.utcOffsetMinutes ?? 0) * 60_000;

function quartersOf({ sinceMs, untilMs }: OverTimeQuestion): [low: number, high: number] {
  return [Math.floor(sinceMs / quarterMs), Math.ceil(untilMs / quarterMs)];
}

function placesOf(database: Database, { sinceMs, untilMs }: Pick<OverTimeQuestion, 'sinceMs' | 'untilMs'>) {
  return [seekSeq(database, sinceMs), seekSeq(database, untilMs)] as const;
}
