/** The statement that writes requests, both begun and ended ones. */
import type { SqlValue } from '../rules/columns.ts';
import {
  type BegunRow,
  type EndedRow,
  finishedColumns,
  finishedValues,
  reservedColumns,
  reservedValues,
  startedColumns,
  startedValues,
} from '../rules/rows.ts';
import { errorsOf, isFinished } from '../sqlite/writer.ts';
import { columnsOf, replaced, unnest } from './columns.ts';
import { vectorOf } from './matched-words.ts';

/** Types of the columns that are not `text`. */
const types: Readonly<Record<string, string>> = {
  day: 'integer',
  started_at: 'double precision',
  stream: 'smallint',
  status: 'integer',
  queue_ms: 'double precision',
  connect_ms: 'double precision',
  first_byte_ms: 'double precision',
  total_ms: 'double precision',
  bytes_in: 'bigint',
  bytes_out: 'bigint',
  attempts: 'json',
  usage: 'json',
  cost_usd: 'double precision',
  client_retries: 'integer',
  first_content_ms: 'double precision',
  longest_gap_ms: 'double precision',
  losses: 'json',
  cached: 'json',
  shadow_of: 'json',
  tools: 'json',
  same_answer: 'smallint',
};

const finishedNames = finishedColumns.split(', ');
const reserved = reservedColumns.split(', ');
const columns = ['day', 'replica', 'errors', ...startedColumns.split(', '), ...finishedNames];
const givenValues = columns.map((column) => (column === 'errors' ? 'given.errors::tsvector' : `given.${column}`));

/** Returns the `id`, `seq` and `outcome` of each request whose beginning or end is new. */
export const writeRequestsSql = `INSERT INTO requests (${columns.join(', ')})
  SELECT ${givenValues.join(', ')} FROM ${unnest(Object.fromEntries(columns.map((column) => [column, types[column] ?? 'text'])))}
  ON CONFLICT (day, id) DO UPDATE SET ${replaced(['errors', ...finishedNames])}
  WHERE requests.outcome IS NULL AND excluded.outcome IS NOT NULL
  RETURNING id, seq, outcome`;

/** A row and the day of its partition. */
export interface PlacedRow {
  row: BegunRow | EndedRow;
  day: number;
}

export function requestColumns(rows: readonly PlacedRow[], replica: string): SqlValue[][] {
  return columnsOf(rows.map(({ row, day }) => [day, replica, wordsOf(row), ...startedValues(row), ...endOf(row)]));
}

function wordsOf(row: BegunRow | EndedRow): string | null {
  const errors = isFinished(row) ? errorsOf(row) : '';
  return errors === '' ? null : vectorOf(errors);
}

function endOf(row: BegunRow | EndedRow): SqlValue[] {
  if (isFinished(row)) return finishedValues(row);
  const values = reservedValues(row);
  return finishedNames.map((column) => values[reserved.indexOf(column)] ?? null);
}
