/** Usage and times to the first byte in steps of equal length. Queries run in small batches, as in `queries.ts`. */
import { setImmediate } from 'node:timers/promises';
import { type Period, wholeQuarters } from '../../contract/calendar.ts';
import type { FirstByteView, UsageStepView, UsageView } from '../../contract/request-views.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { allOf, raw, sql } from '../rules/condition-sql.ts';
import {
  askedSteps,
  byCost,
  calendarFor,
  compareNames,
  counted,
  type FirstByteQuery,
  FirstByteSteps,
  isOfQuarters,
  isOfSums,
  isSampled,
  samplesPerStep,
  stepsOf,
  summaryOf,
  type UsageOverTimeQuery,
  type UsageQuery,
  type UsageStep,
} from '../rules/over-time.ts';
import {
  addInto,
  countedRequests,
  displayedCost,
  nameColumns,
  readSums,
  type Sums,
  storedSums,
  summedColumns,
} from '../rules/sums.ts';
import { type Database, Reads } from './database.ts';
import { lastRolledDay, quartersPerDay } from './derived-rows.ts';
import { piecesOf, select } from './request-filter.ts';
import { blocksDuring, wholeRange } from './request-names.ts';
import type { TextIndex } from './text-index.ts';

const rowsPerBatch = 4_000;
const quartersPerBatch = 4 * 96;
/** Later than every time of a row. */
const lastMs = Number.MAX_SAFE_INTEGER;

export async function usageOverTime(
  database: Database,
  index: TextIndex,
  question: UsageOverTimeQuery,
): Promise<UsageStepView[]> {
  return (await sumsOverTime(database, index, question)).map(viewStep);
}

/** In chronological order. */
async function sumsOverTime(database: Database, index: TextIndex, asked: UsageOverTimeQuery): Promise<UsageStep[]> {
  const steps = new Map<string, UsageStep>();
  const question = counted(asked);
  const calendar = calendarFor(question);
  const batches = isOfSums(question) ? readCells(database, question) : readRequests(database, index, question);
  for await (const rows of batches) {
    for (const row of rows) addStep(steps, readStep(row, calendar.stepOf(question.stepMs, number(row.slot) ?? 0)));
    await setImmediate();
  }
  return [...steps.values()].sort((a, b) => a.startMs - b.startMs || compareNames(a.name, b.name));
}

/** Of each local day, or of each step if they are longer, by the parts of it that are asked for. */
function* readCells(database: Database, question: UsageOverTimeQuery): Generator<Row[]> {
  const { by, names, stepMs } = question;
  const reads = new Reads(database);
  const range = keptQuarters(database, question);
  const partMs = Math.min(stepMs, lastMs);
  for (const { startMs, endMs } of calendarFor(question).stepsOf(Math.max(stepMs, dayMs), range)) {
    const low = Math.ceil(Math.max(startMs, range.sinceMs) / quarterMs);
    const high = Math.ceil(Math.min(endMs, range.untilMs) / quarterMs);
    const firstMs = Number.isFinite(startMs) ? startMs : range.sinceMs;
    for (let from = low; from < high; from += quartersPerBatch) {
      const cells = storedSums('quarter', { by, names, from, to: Math.min(from + quartersPerBatch, high) });
      // The first time of the part of the step.
      const slot = sql`CAST((quarter * ${raw(String(quarterMs))} - ${firstMs}) / ${partMs} AS INTEGER) * ${partMs} + ${firstMs}`;
      yield reads.all(
        sql`SELECT ${slot} AS slot, name, ${raw(summedColumns)} FROM usage_cells WHERE ${cells} GROUP BY slot, name`,
      );
    }
  }
}

async function* readRequests(
  database: Database,
  index: TextIndex,
  question: UsageOverTimeQuery,
): AsyncGenerator<Row[]> {
  const { by, names, sinceMs, untilMs, stepMs, within } = question;
  const selection = await select(database, index, { sinceMs, untilMs, ...(within && { within }) });
  const reads = new Reads(database);
  const unitMs = isOfQuarters(stepMs) ? quarterMs : 1;
  const slot = sql`CAST(started_at / ${unitMs} AS INTEGER) * ${unitMs}`;
  for (const { low, high } of piecesOf(selection, rowsPerBatch)) {
    const range = sql`seq >= ${low} AND seq < ${high}`;
    yield reads.all(countedRequests({ by, names, slot, condition: allOf([range, selection.condition]) }));
  }
}

function readStep(row: Row, { startMs }: Period): UsageStep {
  return { startMs, name: text(row.name) || null, ...readSums(row) };
}

/** A step may extend over several batches. */
function addStep(steps: Map<string, UsageStep>, step: UsageStep): void {
  const id = `${step.startMs} ${step.name ?? ''}`;
  const existing = steps.get(id);
  if (existing) addInto(existing, step);
  else steps.set(id, step);
}

export function viewStep({ startMs, name, ...sums }: UsageStep): UsageStepView {
  const { requests, failed, refused, inputTokens, outputTokens, unpricedRequests } = sums;
  const costUsd = displayedCost(sums);
  return { startMs, name, requests, failed, refused, inputTokens, outputTokens, costUsd, unpricedRequests };
}

export async function firstByteTimes(database: Database, question: FirstByteQuery): Promise<FirstByteView> {
  const { by = 'day', names, stepMs } = question;
  const samplesIn = database.prepare(
    `SELECT first_byte_ms, ${nameColumns[by]} AS name FROM requests
     WHERE seq >= ? AND seq < ? AND started_at >= ? AND started_at < ? AND ${isSampled}
     ORDER BY seq DESC LIMIT ?`,
  );
  const inCells = database.prepare(
    "SELECT sum(requests) AS requests FROM usage_cells WHERE dimension = 'day' AND quarter >= ? AND quarter < ?",
  );
  const inRequests = database.prepare(
    'SELECT count(*) AS requests FROM requests WHERE seq >= ? AND seq < ? AND started_at >= ? AND started_at < ?',
  );
  const counts = (row: Row | undefined) => number(row?.requests) ?? 0;
  const range = wholeRange(database);
  const firstByteSteps = new FirstByteSteps(by, names);
  for (const { startMs, sinceMs, untilMs } of askedSteps(question)) {
    const pieces = [...piecesOf({ range, blocks: blocksDuring(database, { sinceMs, untilMs }) }, rowsPerBatch)];
    const rows: Row[] = [];
    for (const { low, high } of pieces)
      rows.push(...samplesIn.all(low, high, sinceMs, untilMs, samplesPerStep - rows.length));
    const requests = isOfQuarters(stepMs)
      ? counts(inCells.get(Math.floor(sinceMs / quarterMs), Math.ceil(untilMs / quarterMs)))
      : pieces.reduce((sum, { low, high }) => sum + counts(inRequests.get(low, high, sinceMs, untilMs)), 0);
    const samples = rows.map((row) => ({
      valueMs: number(row.first_byte_ms) ?? 0,
      name: text(row.name) ?? '',
      weight: requests / rows.length,
    }));
    firstByteSteps.add(startMs, samples);
    await setImmediate();
  }
  return firstByteSteps.view;
}

/** The part of the range of which there are sums. */
function keptQuarters(database: Database, { by, sinceMs, untilMs }: UsageOverTimeQuery) {
  const end = (which: 'min' | 'max') =>
    number(
      database.prepare(`SELECT ${which}(quarter) AS quarter FROM usage_cells WHERE dimension = ?`).get(by)?.quarter,
    );
  return {
    sinceMs: Math.max(sinceMs, (end('min') ?? 0) * quarterMs),
    untilMs: Math.min(untilMs, ((end('max') ?? -1) + 1) * quarterMs),
  };
}

/** Several days in one query are faster, but block the event loop longer. */
const daysPerBatch = 4;
const rolledDaysPerBatch = 16;

/** The running total of a result row. */
type Summed = Sums & { name: string | null };

/** Usage over a range, by day, key, group, model or provider. Queries run in small batches, as in `queries.ts`. */
export async function summarizeUsage(database: Database, index: TextIndex, asked: UsageQuery): Promise<UsageView[]> {
  const question = wholeQuarters(asked);
  if (question.within || question.by === 'day')
    return summaryOf(await sumsOverTime(database, index, stepsOf(question)), question);
  const sums = new Map<string, Summed>();
  await addWholeTime(database, { quarters: quartersOf(database, question), question, sums });
  return [...sums.values()].map((sum) => ({ ...sum, costUsd: displayedCost(sum) })).sort(byCost);
}

interface Span {
  from: number;
  /** Exclusive. */
  to: number;
}

interface Adding {
  /** Since 1970. */
  quarters: Span;
  question: UsageQuery;
  sums: Map<string, Summed>;
}

/** Uses the totals of whole days as far as possible, and quarters before and after. */
async function addWholeTime(database: Database, { quarters, question, sums }: Adding): Promise<void> {
  const { by, names } = question;
  const reads = new Reads(database);
  const add = async (time: 'quarter' | 'day', { from, to }: Span, perBatch: number) => {
    const table = raw(time === 'day' ? 'usage_days' : 'usage_cells');
    for (let at = from; at < to; at += perBatch) {
      const cells = storedSums(time, { by, names, from: at, to: Math.min(to, at + perBatch) });
      const batch = sql`SELECT name, ${raw(summedColumns)} FROM ${table} WHERE ${cells} GROUP BY name`;
      for (const row of reads.all(batch)) addRow(sums, row);
      await setImmediate();
    }
  };
  const firstDay = Math.ceil(quarters.from / quartersPerDay);
  const endDay = Math.min(Math.floor(quarters.to / quartersPerDay), lastRolledDay(database, by) + 1);
  const perBatch = daysPerBatch * quartersPerDay;
  if (endDay <= firstDay) return await add('quarter', quarters, perBatch);
  await add('quarter', { from: quarters.from, to: firstDay * quartersPerDay }, perBatch);
  await add('day', { from: firstDay, to: endDay }, rolledDaysPerBatch);
  await add('quarter', { from: endDay * quartersPerDay, to: quarters.to }, perBatch);
}

/** The requested quarters, limited to those that exist. */
function quartersOf(database: Database, question: UsageQuery): Span {
  const end = (which: 'min' | 'max') =>
    number(
      database.prepare(`SELECT ${which}(quarter) AS quarter FROM usage_cells WHERE dimension = ?`).get(question.by)
        ?.quarter,
    );
  const low = end('min') ?? 0;
  const high = end('max') ?? -1;
  return {
    from: question.sinceMs === undefined ? low : Math.max(low, Math.floor(question.sinceMs / quarterMs)),
    to: question.untilMs === undefined ? high + 1 : Math.min(high + 1, Math.ceil(question.untilMs / quarterMs)),
  };
}

function addRow(sums: Map<string, Summed>, row: Row): void {
  const name = text(row.name) ?? '';
  const existing = sums.get(name);
  if (existing) addInto(existing, readSums(row));
  else sums.set(name, { name: name || null, ...readSums(row) });
}
