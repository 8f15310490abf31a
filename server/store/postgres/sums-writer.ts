/** Adds up usage in PostgreSQL. Must be called last in a transaction, because other replicas wait for these rows. */
import { addInto, sumColumns, sumValues } from '../../ledger/sums.ts';
import { type Cell, quartersPerDay, type UsageSums } from '../../ledger/usage-cells.ts';
import { columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';

/** Each sum has this many rows, which are spread over the replicas. */
export const parts = 8;

const fractions = new Set(['seconds', 'cost_usd']);
const sumTypes = Object.fromEntries(
  sumColumns.map((column) => [column, fractions.has(column) ? 'double precision' : 'bigint']),
);

/** Column types of the sums per quarter or day. */
export function typesBy(time: 'quarter' | 'day'): Record<string, string> {
  return { dimension: 'text', [time]: 'integer', name: 'text', part: 'smallint', ...sumTypes };
}

function upsertSql(table: string, time: 'quarter' | 'day'): string {
  const columns = typesBy(time);
  const added = sumColumns.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT * FROM ${unnest(columns)}
    ON CONFLICT (dimension, ${time}, name, part) DO UPDATE SET ${added.join(', ')}`;
}

const quarterSql = upsertSql('usage_quarters', 'quarter');
const daySql = upsertSql('usage_days', 'day');
/** Column types. */
export const totalTypes = {
  dimension: 'text',
  name: 'text',
  part: 'smallint',
  tokens: 'bigint',
  cost_usd: 'double precision',
};
const totalSql = `INSERT INTO usage_totals (dimension, name, part, tokens, cost_usd) SELECT * FROM ${unnest(totalTypes)}
  ON CONFLICT (dimension, name, part) DO UPDATE SET
    tokens = usage_totals.tokens + excluded.tokens, cost_usd = usage_totals.cost_usd + excluded.cost_usd`;

export async function addSums(queries: Queries, sums: UsageSums, part: number): Promise<void> {
  // Sorted the same way everywhere, so that replicas do not deadlock.
  const cells = [...sums.values()].sort(inOrder);
  if (cells.length === 0) return;
  const owned = cells.filter(({ dimension }) => dimension === 'key' || dimension === 'group');
  const totals = addUp(owned, () => 0).map((cell) => [
    cell.dimension,
    cell.name,
    part,
    cell.inputTokens + cell.outputTokens,
    cell.costUsd,
  ]);
  if (totals.length > 0) await queries.ask(totalSql, ...columnsOf(totals));
  const rowOf = (cell: Cell) => [cell.dimension, cell.quarter, cell.name, part, ...sumValues(cell)];
  const days = addUp(cells, ({ quarter }) => Math.floor(quarter / quartersPerDay));
  await queries.ask(daySql, ...columnsOf(days.map(rowOf)));
  await queries.ask(quarterSql, ...columnsOf(cells.map(rowOf)));
}

function inOrder(one: Cell, other: Cell): number {
  return compare(one.dimension, other.dimension) || one.quarter - other.quarter || compare(one.name, other.name);
}

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));

/** Adds up cells with the same dimension, time and name. In the result, `quarter` holds that time. */
function addUp(cells: readonly Cell[], timeOf: (cell: Cell) => number): Cell[] {
  const found = new Map<string, Cell>();
  for (const cell of cells) {
    const time = timeOf(cell);
    const place = `${cell.dimension} ${time} ${cell.name}`;
    const before = found.get(place);
    if (before) addInto(before, cell);
    else found.set(place, { ...cell, quarter: time });
  }
  return [...found.values()].sort(inOrder);
}
