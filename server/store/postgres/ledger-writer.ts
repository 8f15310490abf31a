/**
 * Writes requests and everything derived from them: sums, sessions, last uses of keys, the bills of jobs. Each batch is
 * one transaction. A batch may be written again if the server's answer was lost; it counts once.
 */
import type { RequestStarted } from '../../contract/ledger.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { dayMs } from '../../contract/units.ts';
import { number, type SqlValue, text } from '../rules/columns.ts';
import { type NameDimension, nameDimensions } from '../rules/request-conditions.ts';
import {
  type BegunRow,
  type EndedRow,
  finishedColumns,
  finishedValues,
  reservedColumns,
  reservedValues,
  startedColumns,
  startedValues,
  toLedgerRow,
} from '../rules/rows.ts';
import { storableRow, storableSession } from '../rules/storable-row.ts';
import { sumColumns, sumValues } from '../rules/sums.ts';
import type { Capture } from '../sqlite/capture-rows.ts';
import { type JoinedRequest, quartersPerDay, SessionUses, UsageSums } from '../sqlite/derived-rows.ts';
import { errorsOf, isFinished, isOnlyCounted, rowsToWrite } from '../sqlite/writer.ts';
import { captureDay, captureTables, writeCaptures } from './captures.ts';
import { movedDimension, Partitions, partitionDay } from './partitions.ts';
import { byText, columnsOf, type Postgres, type Queries, replaced, unnest } from './postgres.ts';
import { vectorOf } from './request-conditions.ts';

export interface Batch {
  /** A UUID. */
  id: string;
  rows: readonly (BegunRow | EndedRow)[];
  captures?: readonly Capture[];
  /** Requests recorded in this batch or an earlier one that have joined a session. */
  joined?: readonly JoinedRequest[];
  /** The run that served these requests; this one if absent. */
  replica?: string;
}

interface Options {
  postgres: Postgres;
  /** A UUID of this run of this replica. */
  replica: string;
  /** The part of the sums that this replica writes; less than `parts`. */
  part: number;
  now?: () => number;
  /** Called after captures were written. */
  captureWritten?: () => void;
}

interface RowsToWrite {
  placedRows: readonly PlacedRow[];
  /** These get no rows. */
  counted: readonly EndedRow[];
  replica: string;
}

const bookSql = `INSERT INTO booked_jobs (kind, group_id, id)
  SELECT * FROM ${unnest({ kind: 'text', group_id: 'text', id: 'text' })} ON CONFLICT DO NOTHING RETURNING kind, group_id, id`;
const settleSql = `UPDATE jobs SET owed = NULL FROM ${unnest({ kind: 'text', group_id: 'text', id: 'text' })}
  WHERE jobs.kind = given.kind AND jobs.group_id = given.group_id AND jobs.id = given.id`;
/** Column types. */
export const keyUseTypes = { key_id: 'text', last_used_at: 'double precision' };
const keyUsesSql = `INSERT INTO key_uses (key_id, last_used_at) SELECT * FROM ${unnest(keyUseTypes)} ORDER BY key_id COLLATE "C"
  ON CONFLICT (key_id) DO UPDATE SET last_used_at = greatest(key_uses.last_used_at, excluded.last_used_at)`;

export class LedgerWriter {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #partitions: Partitions;
  readonly #capturePartitions: readonly Partitions[];
  readonly #names = new NamesWriter();

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#partitions = new Partitions(options.postgres, 'requests');
    this.#capturePartitions = captureTables.map((table) => new Partitions(options.postgres, table));
  }

  /** Rejects if the batch may not have been written. The same batch may then be written again. */
  async write(batch: Batch): Promise<void> {
    try {
      await this.#write(batch);
    } catch (error) {
      for (const each of [this.#partitions, ...this.#capturePartitions, this.#names]) each.forget();
      throw error;
    }
  }

  async #write({ id, rows, captures = [], joined = [], replica = this.#options.replica }: Batch): Promise<void> {
    const nowMs = this.#now();
    const storableRows = rowsToWrite(rows);
    const placedRows = storableRows
      .filter((row) => !isOnlyCounted(row))
      .map((row) => ({ row, day: partitionDay(row.startedAt, nowMs) }));
    await this.#partitions.ensure(placedRows.map(({ day }) => day));
    for (const each of this.#capturePartitions)
      await each.ensure(captures.map((capture) => captureDay(capture, nowMs)));
    await this.#options.postgres.transaction(async (queries) => {
      const { count } = await queries.ask('INSERT INTO ledger_batches (id) VALUES ($1) ON CONFLICT DO NOTHING', id);
      if (count === 0) return;
      await writeCaptures(queries, captures, nowMs);
      const counted = storableRows.filter(isOnlyCounted);
      await this.#writeRows(queries, { placedRows, counted, replica });
      for (const each of joined) await joinSession(queries, partitionDay(each.startedAt, nowMs), each);
    });
    if (captures.length > 0) this.#options.captureWritten?.();
  }

  async #writeRows(queries: Queries, { placedRows, counted, replica }: RowsToWrite): Promise<void> {
    const rows = await bookJobs(queries, placedRows);
    if (rows.length + counted.length === 0) return;
    const seqs = await record(queries, rows, replica);
    const unrecorded = rows.filter(({ row }) => isFinished(row) && !seqs.has(row.id));
    const interrupted = await reopenInterrupted(queries, unrecorded);
    const reopened = unrecorded.filter(({ row }) => interrupted.some(({ id }) => id === row.id));
    for (const [id, seq] of await record(queries, reopened, replica)) seqs.set(id, seq);
    await this.#names.add(queries, rows);
    const sums = new UsageSums();
    for (const row of counted) sums.add(row);
    const sessions = new SessionUses();
    for (const row of interrupted) {
      sessions.add(row.seq, { ...row, costUsd: -(row.costUsd ?? 0) });
      sums.takeBack(row);
    }
    for (const { row } of rows) {
      const seq = seqs.get(row.id);
      if (seq === undefined) continue;
      sessions.add(seq, row);
      if (isFinished(row)) sums.add(row);
    }
    await writeSessions(queries, sessions);
    await writeKeyUses(queries, [...rows.map(({ row }) => row), ...counted]);
    await addSums(queries, sums, this.#options.part);
  }
}

/** Resolves with the `seq` of each request whose beginning or end this recorded. */
async function record(queries: Queries, rows: readonly PlacedRow[], replica: string): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map();
  const { rows: recordedRows } = await queries.ask(writeRequestsSql, ...requestColumns(rows, replica));
  return new Map(recordedRows.map((row) => [text(row.id) ?? '', number(row.seq) ?? 0]));
}

/** Leaves out the usage of jobs that another replica has already booked. */
async function bookJobs(queries: Queries, placedRows: readonly PlacedRow[]): Promise<PlacedRow[]> {
  const booking = placedRows.flatMap(({ row }) => (isFinished(row) && row.books ? [row.books] : []));
  if (booking.length === 0) return [...placedRows];
  const jobColumns = columnsOf(booking.map(({ kind, groupId, id }) => [kind, groupId, id]).sort(byText));
  const { rows } = await queries.ask(bookSql, ...jobColumns);
  await queries.ask(settleSql, ...jobColumns);
  const isBooked = new Set(rows.map((row) => keyOf(String(row.kind), String(row.group_id), String(row.id))));
  return placedRows.flatMap(({ row, day }) => {
    const bookedJob = isFinished(row) ? row.books : undefined;
    if (!isFinished(row) || !bookedJob || isBooked.has(keyOf(bookedJob.kind, bookedJob.groupId, bookedJob.id)))
      return [{ row, day }];
    // A row without attempts contains nothing but the bill.
    return row.attempts.length === 0 ? [] : [{ row: withoutUsage(row), day }];
  });
}

const keyOf = (kind: string, groupId: string, id: string) => `${kind}\n${groupId}\n${id}`;

function withoutUsage(row: EndedRow): EndedRow {
  const noUsage = { usage: null, usageCertainty: 'none', costUsd: 0 } as const;
  return { ...row, ...noUsage, attempts: row.attempts.map((attempt) => ({ ...attempt, ...noUsage })) };
}

async function writeKeyUses(queries: Queries, rows: readonly RequestStarted[]): Promise<void> {
  const uses = new Map<string, number>();
  for (const row of rows) {
    if (row.keyId !== null) uses.set(row.keyId, Math.max(row.startedAt, uses.get(row.keyId) ?? 0));
  }
  if (uses.size > 0) await queries.ask(keyUsesSql, ...columnsOf([...uses]));
}

/** A realtime session can also end as interrupted; it has a duration then. */
const reopenSql = `UPDATE requests SET outcome = NULL FROM ${unnest({ day: 'integer', id: 'text' })}
  WHERE requests.day = given.day AND requests.id = given.id AND requests.outcome = 'interrupted'
    AND requests.total_ms IS NULL RETURNING requests.*`;

/**
 * Handles requests that were counted as interrupted because their replica had not been seen for a while, but have ended
 * after all. Their real end replaces the amounts that were reserved for them.
 *
 * Turns them back into running requests, so that their ends can be written. Resolves with the rows as they were
 * counted.
 */
async function reopenInterrupted(queries: Queries, ends: readonly PlacedRow[]): Promise<CountedRow[]> {
  if (ends.length === 0) return [];
  const { rows } = await queries.ask(reopenSql, ...columnsOf(ends.map(({ row, day }) => [day, row.id])));
  return rows.map((row) =>
    storableRow({ ...toLedgerRow({ ...row, outcome: 'interrupted' }), outcome: 'interrupted', totalMs: 0 }),
  );
}

type CountedRow = RequestView & { outcome: 'interrupted'; totalMs: number };

// Records which keys, models, clients and other names occur on which days.

/** Sorted the same way everywhere, so that replicas do not deadlock. */
const insertSql = `INSERT INTO request_names (dimension, name, day)
  SELECT * FROM ${unnest({ dimension: 'text', name: 'text', day: 'integer' })}
  ORDER BY dimension COLLATE "C", day, name COLLATE "C" ON CONFLICT DO NOTHING`;

/**
 * Beyond this many names per dimension and day, names may be written again, which has no effect. The same holds for
 * names of days other than the most recent ones.
 */
const mostKnown = 150_000;
const mostDays = 3;

type Name = string | number | null | undefined;
type Dimension = NameDimension | typeof movedDimension;
type Known = Record<Dimension, Set<Name>>;

/** Allocates nothing for names that are already known. */
export class NamesWriter {
  /** What this replica has recorded, by day. */
  readonly #namesByDay = new Map<number, Known>();
  #newNames: [Dimension, string, number][] = [];

  /** After a failure, nothing of the batch is recorded, and the database may have been replaced. */
  forget(): void {
    this.#namesByDay.clear();
  }

  async add(queries: Queries, rows: readonly PlacedRow[]): Promise<void> {
    this.#newNames = [];
    for (const { row, day } of rows) this.#addRow(row, day);
    if (this.#newNames.length > 0) await queries.ask(insertSql, ...columnsOf(this.#newNames));
  }

  #addRow(row: PlacedRow['row'], day: number): void {
    if (Math.floor(row.startedAt / dayMs) !== day) this.#note(movedDimension, '', day);
    this.#note('key', row.keyId, day);
    this.#note('group', row.groupId, day);
    this.#note('model', row.modelAsked, day);
    this.#note('capability', row.capability, day);
    if (!isFinished(row)) return;
    this.#note('model', row.modelServed, day);
    this.#note('provider', row.provider, day);
    this.#note('client', row.client, day);
    this.#note('status', row.status, day);
    this.#note('outcome', row.outcome, day);
    this.#note('error', row.errorCode, day);
  }

  #note(dimension: Dimension, name: Name, day: number): void {
    if (name === null || name === undefined) return;
    const recorded = this.#namesOf(day)[dimension];
    if (recorded.has(name)) return;
    if (recorded.size >= mostKnown) recorded.clear();
    recorded.add(name);
    this.#newNames.push([dimension, String(name), day]);
  }

  #namesOf(day: number): Known {
    let names = this.#namesByDay.get(day);
    if (names === undefined) {
      names = Object.fromEntries(
        [...nameDimensions, movedDimension].map((dimension) => [dimension, new Set()]),
      ) as Known;
      this.#namesByDay.set(day, names);
      const [oldest] = this.#namesByDay.keys();
      if (this.#namesByDay.size > mostDays && oldest !== undefined) this.#namesByDay.delete(oldest);
    }
    return names;
  }
}

const columns = {
  id: 'text',
  name: 'text',
  key_id: 'text',
  group_id: 'text',
  client: 'text',
  last_seq: 'bigint',
  cost_usd: 'double precision',
};
const insert = `INSERT INTO sessions (${Object.keys(columns).join(', ')})`;
const addUse =
  'last_seq = greatest(sessions.last_seq, excluded.last_seq), cost_usd = sessions.cost_usd + excluded.cost_usd';
const sessionsSql = `${insert} SELECT * FROM ${unnest(columns)}
  ON CONFLICT (id) DO UPDATE SET name = coalesce(excluded.name, sessions.name),
    client = coalesce(excluded.client, sessions.client), ${addUse}`;
const findSql = 'SELECT session FROM requests WHERE day = $1 AND id = $2 FOR UPDATE';
const joinSql = 'UPDATE requests SET session = $3, thread = $4, step = $5 WHERE day = $1 AND id = $2';
const joinedCostSql = `${insert}
  SELECT session, NULL, key_id, group_id, client, seq, coalesce(cost_usd, 0) FROM requests WHERE day = $1 AND id = $2
  ON CONFLICT (id) DO UPDATE SET ${addUse}`;

/** Updates the table `sessions` within the transaction that writes the requests. */
export async function writeSessions(queries: Queries, sessions: SessionUses): Promise<void> {
  const rows = [...sessions.entries()].map(([id, { row, name, client, lastSeq, costUsd }]) => [
    id,
    name,
    row.keyId,
    row.groupId,
    client,
    lastSeq,
    costUsd,
  ]);
  if (rows.length > 0) await queries.ask(sessionsSql, ...columnsOf(rows.sort(byText)));
}

/** Adds a recorded request to its session, unless it already has one. */
async function joinSession(
  queries: Queries,
  day: number,
  { requestId, session: givenSession, hasEnded }: JoinedRequest,
): Promise<void> {
  const session = storableSession(givenSession);
  const { rows } = await queries.ask(findSql, day, requestId);
  const [row] = rows;
  if (!row || text(row.session) !== null) return;
  await queries.ask(joinSql, day, requestId, session.id, session.thread, session.step);
  if (hasEnded) await queries.ask(joinedCostSql, day, requestId);
}

// Adds up usage in PostgreSQL. Must be called last in a transaction, because other replicas wait for these rows.

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

// The statement that writes requests, both begun and ended ones.

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
const requestColumnNames = ['day', 'replica', 'errors', ...startedColumns.split(', '), ...finishedNames];
const givenValues = requestColumnNames.map((column) =>
  column === 'errors' ? 'given.errors::tsvector' : `given.${column}`,
);

/** Returns the `id`, `seq` and `outcome` of each request whose beginning or end is new. */
export const writeRequestsSql = `INSERT INTO requests (${requestColumnNames.join(', ')})
  SELECT ${givenValues.join(', ')} FROM ${unnest(Object.fromEntries(requestColumnNames.map((column) => [column, types[column] ?? 'text'])))}
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
