/** Tables that are the same in SQLite and PostgreSQL, except for the layout of sums. */
import { number, type Row, type SqlValue } from '../rules/columns.ts';
import { storableName, storableText } from '../rules/storable-row.ts';
import { sumColumns } from '../rules/sums.ts';
import type { Database } from '../sqlite/database.ts';
import { quartersPerDay } from '../sqlite/derived-rows.ts';
import { pinTypes } from '../sqlite/request-filter.ts';
import { jobTypes } from './job-store.ts';
import { keyUseTypes, type PlacedRow, totalTypes, typesBy } from './ledger-writer.ts';
import { columnsOf, type Postgres, replaced, unnest } from './postgres.ts';
import { reasoningTypes } from './reasoning-store.ts';
import { keptResponseTypes } from './response-store.ts';

/** Replicas use part numbers below this one for their sums; imported sums are stored beside them. */
const importedPart = 100;

interface Copied {
  table: string;
  from: 'ledger' | 'responses';
  /** A SQLite statement. It returns the columns of `columns`, in that order. */
  select: string;
  columns: Readonly<Record<string, string>>;
  /** The columns that identify a row. */
  key: readonly string[];
  rowsPerPiece: number;
  /** What becomes of rows whose names are equal once they are storable: their other columns are added up, or the last one stays. */
  ofEqualNames: 'sum' | 'last';
}

const sums = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');
const selectAll = (columns: object, table: string) => `SELECT ${Object.keys(columns).join(', ')} FROM ${table}`;

/** Includes days that were rolled up and days that were not. */
const daysSql = `SELECT dimension, quarter / ${quartersPerDay} AS day, name, ${importedPart} AS part, ${sums} FROM usage_cells GROUP BY 1, 2, 3`;

const tables: readonly Copied[] = [
  copiedTable('jobs', jobTypes, ['kind', 'group_id', 'id'], 1_000),
  { ...copiedTable('kept_responses', keptResponseTypes, ['group_id', 'id'], 20), from: 'responses' },
  copiedTable('reasoning', reasoningTypes, ['key_id', 'call_id'], 100),
  copiedTable('pins', pinTypes, ['id'], 5),
  copiedTable('key_uses', keyUseTypes, ['key_id'], 1_000),
  {
    table: 'usage_quarters',
    from: 'ledger',
    select: `SELECT dimension, quarter, name, ${importedPart} AS part, ${sumColumns.join(', ')} FROM usage_cells ORDER BY 1, 2, 3`,
    columns: typesBy('quarter'),
    key: ['dimension', 'quarter', 'name', 'part'],
    rowsPerPiece: 2_000,
    ofEqualNames: 'sum',
  },
  {
    table: 'usage_days',
    from: 'ledger',
    select: `${daysSql} ORDER BY 1, 2, 3`,
    columns: typesBy('day'),
    key: ['dimension', 'day', 'name', 'part'],
    rowsPerPiece: 2_000,
    ofEqualNames: 'sum',
  },
  {
    table: 'usage_totals',
    from: 'ledger',
    select: `SELECT dimension, name, ${importedPart} AS part, tokens, cost_usd FROM usage_totals ORDER BY 1, 2`,
    columns: totalTypes,
    key: ['dimension', 'name', 'part'],
    rowsPerPiece: 2_000,
    ofEqualNames: 'sum',
  },
];

function copiedTable(table: string, columns: Copied['columns'], key: readonly string[], rowsPerPiece: number): Copied {
  const select = `${selectAll(columns, table)} ORDER BY ${key.join(', ')}`;
  return { table, from: 'ledger', select, columns, key, rowsPerPiece, ofEqualNames: 'last' };
}

export async function copyTables(postgres: Postgres, files: Readonly<Record<Copied['from'], Database>>): Promise<void> {
  for (const table of tables) await copyTable(postgres, files[table.from], table);
  await copySessions(postgres, files.ledger);
}

async function copyTable(postgres: Postgres, file: Database, copied: Copied): Promise<void> {
  const { table, select, columns, key, rowsPerPiece } = copied;
  const names = Object.keys(columns);
  const others = names.filter((name) => !key.includes(name));
  const insert = `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM ${unnest(columns)}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${replaced(others)}`;
  const renamed = new RenamedRows(file, copied);
  for (const rows of pieces(renamed.others(file.prepare(select).iterate()), rowsPerPiece))
    await postgres.ask(insert, ...columnsOf(rows));
  for (const rows of pieces(renamed.rows(), rowsPerPiece)) await postgres.ask(insert, ...columnsOf(rows));
}

/** Rows of a table whose names PostgreSQL cannot hold. With new names, they may be equal to others. */
class RenamedRows {
  readonly #file: Database;
  readonly #copied: Copied;
  readonly #rows = new Map<string, SqlValue[]>();

  constructor(file: Database, copied: Copied) {
    this.#file = file;
    this.#copied = copied;
  }

  /** The storable values of the rows that keep their names. The remaining ones are in `rows` afterwards. */
  *others(rows: Iterable<Row>): Generator<SqlValue[]> {
    for (const row of rows) {
      const values = this.#storable(row);
      if (this.#copied.key.every((column) => !isRenamed(row[column]))) yield values;
      else this.#add(values);
    }
  }

  *rows(): Generator<SqlValue[]> {
    const { select, key } = this.#copied;
    const conditions = key.map((column) => `${column} = ?`).join(' AND ');
    const find = this.#file.prepare(`SELECT * FROM (${select}) WHERE ${conditions}`);
    for (const values of [...this.#rows.values()]) {
      const unchanged = find.get(...this.#keyOf(values));
      yield unchanged ? this.#merged(this.#storable(unchanged), values) : values;
    }
  }

  #add(values: SqlValue[]): void {
    const id = JSON.stringify(this.#keyOf(values));
    const earlier = this.#rows.get(id);
    this.#rows.set(id, earlier ? this.#merged(earlier, values) : values);
  }

  #storable(row: Row): SqlValue[] {
    const { columns, key } = this.#copied;
    return Object.entries(columns).map(([name, type]) =>
      storableValue(row[name] ?? null, key.includes(name) ? 'name' : type),
    );
  }

  #keyOf(values: readonly SqlValue[]): SqlValue[] {
    const { columns, key } = this.#copied;
    return key.map((column) => values[Object.keys(columns).indexOf(column)] ?? null);
  }

  #merged(earlier: readonly SqlValue[], later: readonly SqlValue[]): SqlValue[] {
    const { columns, key, ofEqualNames } = this.#copied;
    const isAdded = Object.keys(columns).map((name) => ofEqualNames === 'sum' && !key.includes(name));
    return later.map((value, index) => (isAdded[index] ? Number(earlier[index]) + Number(value) : value));
  }
}

const isRenamed = (value: SqlValue | undefined) => typeof value === 'string' && storableName(value) !== value;

/** A value that a column of the type can hold. `name`: indexed text. */
function storableValue(value: SqlValue, type: string): SqlValue {
  if (typeof value === 'string') return type === 'name' ? storableName(value) : storableText(value);
  if (typeof value !== 'number') return value;
  return type === 'bigint' ? Math.round(Math.min(value, Number.MAX_SAFE_INTEGER)) : Math.min(value, Number.MAX_VALUE);
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
  for (const rows of pieces(storableSessions(selectSessions.iterate()), 500))
    await postgres.ask(sessionsSql, ...columnsOf(rows));
}

function* storableSessions(rows: Iterable<Row>): Generator<SqlValue[]> {
  for (const row of rows)
    yield Object.entries(sessions).map(([name, type]) =>
      storableValue(row[name] ?? null, type === 'text' ? 'name' : type),
    );
}

/** In pieces of at most `rowsPerPiece` rows. */
function* pieces(rows: Iterable<SqlValue[]>, rowsPerPiece: number): Generator<SqlValue[][]> {
  let piece: SqlValue[][] = [];
  for (const row of rows) {
    if (piece.push(row) < rowsPerPiece) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

// Checks that an import is complete by computing the same sums in SQLite and in PostgreSQL.

export interface Compared {
  what: string;
  /** In the data folder. */
  before: number;
  /** In the database. */
  after: number;
  isSame: boolean;
}

const arrivedSql = `SELECT count(*) AS requests, coalesce(sum(cost_usd), 0) AS cost_usd
  FROM ${unnest({ day: 'integer', id: 'text' })} JOIN requests USING (day, id)`;

/** Reads back the copied requests. */
export class RequestTally {
  #before = { requests: 0, costUsd: 0 };
  #after = { requests: 0, costUsd: 0 };

  async add(postgres: Postgres, placedRows: readonly PlacedRow[]): Promise<void> {
    const { rows } = await postgres.ask(arrivedSql, ...columnsOf(placedRows.map(({ row, day }) => [day, row.id])));
    this.#after = {
      requests: this.#after.requests + (number(rows[0]?.requests) ?? 0),
      costUsd: this.#after.costUsd + (number(rows[0]?.cost_usd) ?? 0),
    };
    for (const { row } of placedRows) {
      this.#before.requests += 1;
      if ('costUsd' in row) this.#before.costUsd += row.costUsd ?? 0;
    }
  }

  get compared(): Compared[] {
    return [
      compare('requests', this.#before.requests, this.#after.requests),
      compare('cost of requests (USD)', this.#before.costUsd, this.#after.costUsd),
    ];
  }
}

interface Question {
  what: string;
  from: 'ledger' | 'responses';
  sqlite: string;
  postgres: string;
}

const tokens = 'coalesce(sum(input_tokens + output_tokens), 0)';
const ofPart = `WHERE part = ${importedPart}`;
const sumQuestions = (unit: string, sql: string): Question[] => [
  question(
    `${unit} by quarter of an hour`,
    `SELECT ${sql} AS sum FROM usage_cells`,
    `SELECT ${sql} AS sum FROM usage_quarters ${ofPart}`,
  ),
  question(`${unit} by day`, `SELECT ${sql} AS sum FROM usage_cells`, `SELECT ${sql} AS sum FROM usage_days ${ofPart}`),
];
const questions: readonly Question[] = [
  ...sumQuestions('requests', 'coalesce(sum(requests), 0)'),
  ...sumQuestions('tokens', tokens),
  ...sumQuestions('cost (USD)', 'coalesce(sum(cost_usd), 0)'),
  question(
    'tokens in total',
    'SELECT coalesce(sum(tokens), 0) AS sum FROM usage_totals',
    `SELECT coalesce(sum(tokens), 0) AS sum FROM usage_totals ${ofPart}`,
  ),
  question('jobs', 'SELECT count(*) AS sum FROM jobs', 'SELECT count(*) AS sum FROM jobs'),
  {
    ...question(
      'stored responses',
      'SELECT count(*) AS sum FROM kept_responses',
      'SELECT count(*) AS sum FROM kept_responses',
    ),
    from: 'responses',
  },
  question('captures', 'SELECT count(DISTINCT id) AS sum FROM captures', 'SELECT count(*) AS sum FROM captures'),
];

function question(subject: string, sqlite: string, postgres: string): Question {
  return { what: subject, from: 'ledger', sqlite, postgres };
}

export async function compareSums(
  postgres: Postgres,
  files: Readonly<Record<Question['from'], Database>>,
  tally: RequestTally,
): Promise<Compared[]> {
  const compared = [...tally.compared];
  for (const { what: subject, from, sqlite, postgres: sql } of questions) {
    const { rows } = await postgres.ask(sql);
    compared.push(compare(subject, number(files[from].prepare(sqlite).get()?.sum) ?? 0, number(rows[0]?.sum) ?? 0));
  }
  return compared;
}

/** Floating-point sums differ slightly because the values are added in another order. */
function compare(subject: string, before: number, after: number): Compared {
  return { what: subject, before, after, isSame: Math.abs(before - after) <= 1e-9 * Math.max(1, Math.abs(before)) };
}
