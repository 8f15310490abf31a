/** Tables that are the same in SQLite and PostgreSQL, except for the layout of sums. */
import type { Database, SqlValue, Statement } from '../../database/database.ts';
import { sumColumns } from '../../ledger/sums.ts';
import { quartersPerDay } from '../../ledger/usage-cells.ts';
import { columnsOf, replaced, unnest } from './columns.ts';
import { jobTypes } from './job-rows.ts';
import { keyUseTypes } from './ledger-writer.ts';
import type { Postgres } from './postgres.ts';
import { reasoningTypes } from './reasoning-store.ts';
import { keptResponseTypes } from './response-store.ts';
import { totalTypes, typesBy } from './sums-writer.ts';

/** Replicas use part numbers below this one for their sums; imported sums are stored beside them. */
export const importedPart = 100;

interface Copied {
  table: string;
  from: 'ledger' | 'responses';
  /** A SQLite statement. It returns the columns of `columns`, in that order. */
  select: string;
  columns: Readonly<Record<string, string>>;
  /** The columns that identify a row. */
  key: readonly string[];
  rowsPerPiece: number;
}

const sums = sumColumns.map((column) => `sum(${column})`).join(', ');
const selectAll = (columns: object, table: string) => `SELECT ${Object.keys(columns).join(', ')} FROM ${table}`;

/** Includes days that were rolled up and days that were not. */
const daysSql = `SELECT dimension, quarter / ${quartersPerDay} AS day, name, ${importedPart} AS part, ${sums} FROM usage_cells GROUP BY 1, 2, 3`;

const tables: readonly Copied[] = [
  copiedTable('jobs', jobTypes, ['kind', 'group_id', 'id'], 1_000),
  { ...copiedTable('kept_responses', keptResponseTypes, ['group_id', 'id'], 20), from: 'responses' },
  copiedTable('reasoning', reasoningTypes, ['key_id', 'call_id'], 100),
  copiedTable('key_uses', keyUseTypes, ['key_id'], 1_000),
  {
    table: 'usage_quarters',
    from: 'ledger',
    select: `SELECT dimension, quarter, name, ${importedPart} AS part, ${sumColumns.join(', ')} FROM usage_cells ORDER BY 1, 2, 3`,
    columns: typesBy('quarter'),
    key: ['dimension', 'quarter', 'name', 'part'],
    rowsPerPiece: 2_000,
  },
  {
    table: 'usage_days',
    from: 'ledger',
    select: `${daysSql} ORDER BY 1, 2, 3`,
    columns: typesBy('day'),
    key: ['dimension', 'day', 'name', 'part'],
    rowsPerPiece: 2_000,
  },
  {
    table: 'usage_totals',
    from: 'ledger',
    select: `SELECT dimension, name, ${importedPart} AS part, tokens, cost_usd FROM usage_totals ORDER BY 1, 2`,
    columns: totalTypes,
    key: ['dimension', 'name', 'part'],
    rowsPerPiece: 2_000,
  },
];

function copiedTable(table: string, columns: Copied['columns'], key: readonly string[], rowsPerPiece: number): Copied {
  const select = `${selectAll(columns, table)} ORDER BY ${key.join(', ')}`;
  return { table, from: 'ledger', select, columns, key, rowsPerPiece };
}

export async function copyTables(postgres: Postgres, files: Readonly<Record<Copied['from'], Database>>): Promise<void> {
  for (const table of tables) await copyTable(postgres, files[table.from], table);
  await copySessions(postgres, files.ledger);
}

async function copyTable(postgres: Postgres, file: Database, { table, select, columns, key, rowsPerPiece }: Copied) {
  const names = Object.keys(columns);
  const others = names.filter((name) => !key.includes(name));
  const insert = `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM ${unnest(columns)}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${replaced(others)}`;
  for (const rows of pieces(file.prepare(select), rowsPerPiece)) await postgres.ask(insert, ...columnsOf(rows));
}

const sessions = {
  id: 'text',
  name: 'text',
  key_id: 'text',
  group_id: 'text',
  client: 'text',
  stopped_at: 'double precision',
  cost_usd: 'double precision',
  resumed_usd: 'double precision',
};
/** Requests have new sequence numbers here, in the same order. */
const sessionsSql = `INSERT INTO sessions (${Object.keys(sessions).join(', ')}, last_seq)
  SELECT given.*, last.seq FROM ${unnest(sessions)}
    JOIN LATERAL (SELECT max(seq) AS seq FROM requests WHERE requests.session = given.id) AS last ON last.seq IS NOT NULL
  ON CONFLICT (id) DO NOTHING`;

async function copySessions(postgres: Postgres, ledger: Database): Promise<void> {
  const selectSessions = ledger.prepare(`${selectAll(sessions, 'sessions')} ORDER BY id`);
  for (const rows of pieces(selectSessions, 500)) await postgres.ask(sessionsSql, ...columnsOf(rows));
}

/** The values of all rows, in pieces of at most `rowsPerPiece` rows. */
function* pieces(statement: Statement, rowsPerPiece: number): Generator<SqlValue[][]> {
  let batch: SqlValue[][] = [];
  for (const row of statement.iterate()) {
    if (batch.push(Object.values(row)) < rowsPerPiece) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
