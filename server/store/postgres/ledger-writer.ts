/**
 * Writes requests and everything derived from them: sums, sessions, last uses of keys, the bills of jobs. Each batch is
 * one transaction. A batch may be written again if the server's answer was lost; it counts once.
 */

import type { RequestStarted } from '../../contract/ledger.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { number, text } from '../rules/columns.ts';
import { type BegunRow, type EndedRow, toLedgerRow } from '../rules/rows.ts';
import { storableRow } from '../rules/storable-row.ts';
import type { Capture } from '../sqlite/capture-rows.ts';
import { type JoinedRequest, SessionUses } from '../sqlite/session-rows.ts';
import { UsageSums } from '../sqlite/usage-cells.ts';
import { isFinished, isOnlyCounted, rowsToWrite } from '../sqlite/writer.ts';
import { captureDay, captureTables, writeCaptures } from './captures.ts';
import { byText, columnsOf, unnest } from './columns.ts';
import { NamesWriter } from './names-writer.ts';
import { Partitions, partitionDay } from './partitions.ts';
import type { Postgres, Queries } from './postgres.ts';
import { type PlacedRow, requestColumns, writeRequestsSql } from './request-rows.ts';
import { joinSession, writeSessions } from './sessions-writer.ts';
import { addSums } from './sums-writer.ts';

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
