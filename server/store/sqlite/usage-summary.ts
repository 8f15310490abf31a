/** Usage over a range, by day, key, group, model or provider. Queries run in small batches, as in `queries.ts`. */

import { setImmediate } from 'node:timers/promises';
import { wholeQuarters } from '../../contract/calendar.ts';
import type { UsageView } from '../../contract/request-views.ts';
import { quarterMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { raw, sql } from '../rules/condition-sql.ts';
import { storedSums } from '../rules/counts-sql.ts';
import { addInto, displayedCost, readSums, type Sums, summedColumns } from '../rules/sums.ts';
import type { UsageQuery } from '../rules/usage-query.ts';
import { byCost, stepsOf, summaryOf } from '../rules/usage-within.ts';
import { type Database, Reads } from './database.ts';
import { sumsOverTime } from './over-time.ts';
import type { TextIndex } from './text-index.ts';
import { lastRolledDay, quartersPerDay } from './usage-cells.ts';

/** Several days in one query are faster, but block the event loop longer. */
const daysPerBatch = 4;
const rolledDaysPerBatch = 16;

/** The running total of a result row. */
type Summed = Sums & { name: string | null };

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
