/** Adds up usage in PostgreSQL. Must be called last in a transaction, because other replicas wait for these rows. */
import { sumColumns, sumValues } from '../rules/sums.ts';
import { quartersPerDay, type UsageSums } from '../sqlite/usage-cells.ts';
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

/** Column types. */
export const totalTypes = {
  dimension: 'text',
  name: 'text',
  part: 'smallint',
  tokens: 'bigint',
  cost_usd: 'double precision',
};

const { part: _, ...cellTypes } = typesBy('quarter');
const part = `$${Object.keys(cellTypes).length + 1}::smallint`;
const inOrder = 'ORDER BY dimension COLLATE "C", 2, name COLLATE "C"';
const adding = (table: string, columns: readonly string[]) =>
  `DO UPDATE SET ${columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`;

/** Names may have become equal because PostgreSQL cannot store some characters. */
function upsertSql(table: string, time: 'quarter' | 'day', timeOfCell: string): string {
  return `INSERT INTO ${table} (${Object.keys(typesBy(time)).join(', ')})
    SELECT dimension, ${timeOfCell}, name, ${part}, ${sumColumns.map((column) => `sum(${column})`).join(', ')}
    FROM cells GROUP BY 1, 2, 3 ${inOrder} ON CONFLICT (dimension, ${time}, name, part) ${adding(table, sumColumns)}`;
}

/**
 * Writes all three tables in one statement, so that each cell is sent once. Rows are sorted the same way everywhere, so
 * that replicas do not deadlock. Data-modifying WITH clauses are executed last to first (PostgreSQL 15).
 */
const addSql = `WITH cells AS (
    SELECT dimension, quarter, name, ${sumColumns.map((column) => `coalesce(${column}, 0) AS ${column}`).join(', ')}
    FROM ${unnest(cellTypes)}
  ), quarters AS (
    ${upsertSql('usage_quarters', 'quarter', 'quarter')}
  ), days AS (
    ${upsertSql('usage_days', 'day', `quarter / ${quartersPerDay}`)}
  )
  INSERT INTO usage_totals (${Object.keys(totalTypes).join(', ')})
  SELECT dimension, name, ${part}, sum(input_tokens + output_tokens), sum(cost_usd) FROM cells
  WHERE dimension IN ('key', 'group') GROUP BY 1, 2 ORDER BY dimension COLLATE "C", name COLLATE "C"
  ON CONFLICT (dimension, name, part) ${adding('usage_totals', ['tokens', 'cost_usd'])}`;

export async function addSums(queries: Queries, sums: UsageSums, ownPart: number): Promise<void> {
  const cells = [...sums.values()];
  if (cells.length === 0) return;
  const columns = columnsOf(cells.map((cell) => [cell.dimension, cell.quarter, cell.name, ...sumValues(cell)]));
  // Most kinds of usage are rare, and missing ones count as 0.
  const sparseColumns = columns.map((column) => (column.every((value) => value === 0) ? [] : column));
  await queries.ask(addSql, ...sparseColumns, ownPart);
}
