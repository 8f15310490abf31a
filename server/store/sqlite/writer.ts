/** Writes a batch in one transaction: requests, usage totals, last uses of keys, captures. */
import type { RequestStarted } from '../../contract/ledger.ts';
import type { LedgerHealthView } from '../../contract/status-views.ts';
import { after } from '../../ground/timers.ts';
import { isTemporary, messageOf } from '../rules/failures.ts';
import {
  type BegunRow,
  type EndedRow,
  finishedValues,
  insertFinishedSql,
  insertStartedSql,
  reservedValues,
  startedValues,
  toLedgerRow,
  updateFinishedSql,
} from '../rules/rows.ts';
import { searchableText } from '../rules/searchable-text.ts';
import { bareRow, storableRow } from '../rules/storable-row.ts';
import { type Capture, prepareCaptureWriter } from './capture-rows.ts';
import type { Database } from './database.ts';
import {
  type Batch,
  type JoinedRequest,
  prepareJoiner,
  prepareSessionsWriter,
  prepareSumsWriter,
  RecentBatches,
  SessionUses,
  type UsageDays,
  UsageSums,
} from './derived-rows.ts';
import { NamesWriter } from './request-names.ts';
import { type SetAsideRows, spentByEnded, spentIn } from './set-aside-rows.ts';
import { plus, type Spent, type SpentQuery } from './usage-history.ts';

interface LedgerWriter {
  /**
   * Writes the whole batch, or throws and writes nothing. Skips and returns those rows of requests that have only begun that
   * may wait.
   */
  write(
    requests: readonly (BegunRow | EndedRow)[],
    captures: readonly Capture[],
    mayWait: (row: BegunRow) => boolean,
  ): BegunRow[];
  /** Adds a recorded request to its session. False if it is not written yet. */
  join(joined: JoinedRequest): boolean;
  /** Marks requests that an earlier run left unfinished. Returns their number. */
  markInterrupted(): number;
}

export const isFinished = (row: BegunRow | EndedRow): row is EndedRow => 'outcome' in row;
export const isOnlyCounted = (row: BegunRow | EndedRow): row is EndedRow =>
  isFinished(row) && row.isOnlyCounted === true;

/**
 * The rows of a batch as every store can hold them. Requests that began and ended within the batch become one row, in order of
 * their beginning. Rows of ended requests were made storable when they were added.
 */
export function rowsToWrite(rows: readonly (BegunRow | EndedRow)[]): (BegunRow | EndedRow)[] {
  const latest = new Map<string, BegunRow | EndedRow>();
  for (const row of rows) latest.set(row.id, row);
  return Array.from(latest.values(), (row) => (isFinished(row) ? row : storableRow(row)));
}

/** `captureWritten` is called after captures were written. */
export function createLedgerWriter(
  database: Database,
  days: Pick<UsageDays, 'isRolledUp'>,
  captureWritten: () => void = () => {},
): LedgerWriter {
  const addSums = prepareSumsWriter(database, days.isRolledUp);
  const addKeyUses = prepareKeyUsesWriter(database);
  const addSessions = prepareSessionsWriter(database);
  const writeRequest = prepareRequestWriter(database);
  const names = new NamesWriter(database);
  const addErrors = database.prepare('INSERT INTO error_text (rowid, text) VALUES (?, ?)');
  const addCapture = prepareCaptureWriter(database);
  // In the same transaction as its usage, so that a job is counted exactly once even after a crash.
  const settleJob = database.prepare('UPDATE jobs SET owed = NULL WHERE kind = ? AND group_id = ? AND id = ?');
  const { running, captured } = rememberedSeqs(database);
  const alone = new RecentBatches();
  database.onReplaced(() => alone.clear());

  return {
    write(given, captures, mayWait) {
      const rows = rowsToWrite(given);
      const deferred: BegunRow[] = [];
      const begunSeqs = new Map<string, number>();
      const capturedSeqs = new Map<string, number>();
      let aloneBatch: Batch | null = null;
      const hasCapture = new Set(captures.map(({ id }) => id));
      names.startBatch();
      database.transaction(() => {
        const sums = new UsageSums();
        const sessions = new SessionUses();
        for (const row of rows) {
          if (!isFinished(row) && !hasCapture.has(row.id) && mayWait(row)) {
            deferred.push(row);
            continue;
          }
          if (isOnlyCounted(row)) {
            sums.add(row);
            continue;
          }
          const seq = writeRequest(row, running.get(row.id));
          names.add(seq, row);
          sessions.add(seq, row);
          if (isFinished(row)) {
            sums.add(row);
            const errors = errorsOf(row);
            if (errors !== '') addErrors.run(seq, errors);
            if (row.captured !== null) capturedSeqs.set(row.id, seq);
            if (row.session === null) aloneBatch = RecentBatches.extended(aloneBatch, seq, row.startedAt);
            if (row.books) settleJob.run(row.books.kind, row.books.groupId, row.books.id);
          } else begunSeqs.set(row.id, seq);
        }
        addSums(sums);
        addKeyUses(rows);
        addSessions(sessions);
        for (const capture of captures) {
          const { id } = capture;
          addCapture(capture, capturedSeqs.get(id) ?? captured.get(id) ?? begunSeqs.get(id) ?? running.get(id) ?? null);
        }
      });
      // Only after the commit.
      names.commitBatch();
      if (captures.length > 0) captureWritten();
      for (const row of rows) if (isFinished(row)) running.delete(row.id);
      for (const [id, seq] of begunSeqs) running.set(id, seq);
      // A batch that is refused must leave none of these behind.
      for (const [id, seq] of capturedSeqs) captured.set(id, seq);
      if (aloneBatch) alone.add(aloneBatch);
      forgetOldest(captured);
      return deferred;
    },
    join: prepareJoiner(database, { running, alone }),
    markInterrupted: () => database.transaction(() => markInterrupted(database, addSums, names)),
  };
}

/** The `seq` of rows, by request id. */
function rememberedSeqs(database: Database) {
  const seqs = {
    running: new Map<string, number>(),
    /** Captured requests that have ended: a capture may be written after its request. */
    captured: new Map<string, number>(),
  };
  // A replacement file does not contain them.
  database.onReplaced(() => {
    for (const each of Object.values(seqs)) each.clear();
  });
  return seqs;
}

/** More than can wait to be written. */
const rememberedCaptured = 1_000;

function forgetOldest(seqs: Map<string, number>): void {
  for (const id of seqs.keys()) {
    if (seqs.size <= rememberedCaptured) return;
    seqs.delete(id);
  }
}

/** Error messages of the attempts, for searching. */
export function errorsOf({ attempts }: Pick<EndedRow, 'attempts'>): string {
  if (attempts.every(({ error }) => error === null)) return '';
  return searchableText([...new Set(attempts.map(({ error }) => error ?? ''))].join(' '));
}

/** Returns a function that inserts or updates a request's row and returns its `seq`. */
function prepareRequestWriter(database: Database) {
  const started = database.prepareInsert(insertStartedSql);
  const finished = database.prepareInsert(insertFinishedSql);
  const updateFinished = database.prepare(updateFinishedSql);
  return (row: BegunRow | EndedRow, seq: number | undefined): number => {
    // Two spread arrays in one call would be copied value by value.
    if (!isFinished(row)) return started.insert(...startedValues(row).concat(reservedValues(row)));
    if (seq === undefined) return finished.insert(...startedValues(row).concat(finishedValues(row)));
    updateFinished.run(...finishedValues(row), seq);
    return seq;
  };
}

function prepareKeyUsesWriter(database: Database) {
  const upsert = database.prepare(
    `INSERT INTO key_uses VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  return (rows: readonly RequestStarted[]): void => {
    const uses = new Map<string, number>();
    for (const row of rows) {
      if (row.keyId !== null) uses.set(row.keyId, Math.max(row.startedAt, uses.get(row.keyId) ?? 0));
    }
    for (const [keyId, at] of uses) upsert.run(keyId, at);
  };
}

function markInterrupted(database: Database, addSums: (sums: UsageSums) => void, names: NamesWriter): number {
  const markAll = database.prepare("UPDATE requests SET outcome = 'interrupted' WHERE outcome IS NULL RETURNING *");
  const interruptedRows = markAll.all().map(toLedgerRow);
  const addCost = database.prepare('UPDATE sessions SET cost_usd = cost_usd + ? WHERE id = ?');
  const sums = new UsageSums();
  names.startBatch();
  for (const row of interruptedRows) {
    const ended = storableRow({ ...row, outcome: 'interrupted', totalMs: row.totalMs ?? 0 } as const);
    sums.add(ended);
    if (row.session !== null && ended.costUsd !== null) addCost.run(ended.costUsd, row.session.id);
    names.add(row.seq, ended);
  }
  addSums(sums);
  return interruptedRows.length;
}

interface WaitingRowsOptions {
  writer: LedgerWriter;
  setAside: SetAsideRows;
  log: { warn(fields: object, message: string): void };
  /** The longest delay of a write; for a request that has only begun, half as long again. At most 66. */
  flushMs: number;
}

/** Rows kept while writing fails; beyond this the oldest are dropped. */
const maxPending = 10_000;
/** Captured bodies are large, so fewer are kept. */
const maxPendingCaptures = 200;
/** This many ended requests are written at once, so that a write blocks the event loop for about 2 ms at most. */
const fullBatch = 256;
const retryMs = 1_000;
/** After this many writes, a request that has begun has been written. */
const writesUntilJoined = 3;

/**
 * Buffers rows in memory and writes them in batches, within 100 ms. Failed writes are retried; if they keep failing,
 * the oldest rows are dropped and counted. A row that can never be written is set aside alone.
 */
export class WaitingRows {
  readonly #options: WaitingRowsOptions;
  #rows: (BegunRow | EndedRow)[] = [];
  #captures: Capture[] = [];
  #joinedRequests: (JoinedRequest & { writes: number })[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Number of ended requests among those rows. */
  #ended = 0;
  #droppedCount = 0;
  #lastError: string | null = null;
  /** Whether the previous run's unfinished requests were marked, which precedes the first write. */
  #isMarked = false;

  constructor(options: WaitingRowsOptions) {
    this.#options = options;
  }

  add(row: BegunRow | EndedRow): void {
    this.#rows.push(row);
    if (isFinished(row) && ++this.#ended === fullBatch && this.#lastError === null) setImmediate(this.#flushEnded);
    this.#arm(this.#options.flushMs);
  }

  addCapture(capture: Capture): void {
    this.#captures.push(capture);
    this.#arm(this.#options.flushMs);
  }

  join(joinedRequest: JoinedRequest): void {
    this.#joinedRequests.push({ ...joinedRequest, writes: 0 });
    this.#arm(this.#options.flushMs);
  }

  /** Writes pending rows. Never throws; rows that cannot be written stay pending. */
  readonly flush = (): void => {
    this.#disarm();
    this.#write(() => false);
  };

  /**
   * Nearly all requests end soon, and then need one insert rather than an insert and an update. So a full batch leaves
   * rows of running requests to the timer, and the timer leaves those that have just begun to its next run.
   */
  readonly #flushEnded = (): void => this.#write(() => true);
  readonly #flushDue = (): void => {
    this.#disarm();
    const nowMs = Date.now();
    const youngMs = this.#options.flushMs / 2;
    // A clock that was set back must not keep rows waiting.
    this.#write(({ startedAt }) => Math.abs(nowMs - startedAt) < youngMs);
    if (this.#rows.length > 0) this.#arm(this.#options.flushMs);
  };

  #write(mayWait: (row: BegunRow) => boolean): void {
    if (this.#isMarked && this.#rows.length === 0 && this.#captures.length + this.#joinedRequests.length === 0) return;
    try {
      if (!this.#isMarked) this.#markInterrupted();
      this.#writeRows(mayWait);
      if (this.#joinedRequests.length > 0) this.#writeJoined();
      this.#lastError = null;
    } catch (error) {
      this.#keepForLater(error);
    }
  }

  #writeRows(mayWait: (row: BegunRow) => boolean): void {
    try {
      this.#rows = this.#options.writer.write(this.#rows, this.#captures, mayWait);
      this.#captures = [];
    } catch (error) {
      if (isTemporary(error)) throw error;
      this.#writeApart();
    }
    this.#ended = 0;
  }

  /** Writes all but what the database refuses. What is left when it fails temporarily stays pending. */
  #writeApart(): void {
    let pieces: Piece[] = [{ rows: rowsToWrite(this.#rows), captures: this.#captures, joined: [] }];
    try {
      for (let [piece, ...rest] = pieces; piece; [piece, ...rest] = pieces)
        pieces = [...this.#writePiece(piece), ...rest];
    } finally {
      this.#rows = pieces.flatMap(({ rows }) => rows);
      this.#captures = pieces.flatMap(({ captures }) => captures);
    }
  }

  /** Returns the pieces to write instead. */
  #writePiece(piece: Piece): Piece[] {
    try {
      this.#options.writer.write(piece.rows, piece.captures, () => false);
      return [];
    } catch (error) {
      if (isTemporary(error)) throw error;
      const halves = halvesOf(piece);
      if (halves.length === 0) this.#refuse(piece, messageOf(error));
      return halves;
    }
  }

  #refuse({ rows: [row], captures: [capture] }: Piece, error: string): void {
    const { setAside, log } = this.#options;
    if (row) setAside.add({ row, error, isCounted: this.#writeBare(row) });
    else log.warn({ request: capture?.id, error }, 'a captured text cannot be written');
  }

  #writeBare(row: BegunRow | EndedRow): boolean {
    try {
      this.#options.writer.write([bareRow(row)], [], () => false);
      return true;
    } catch (error) {
      if (isTemporary(error)) throw error;
      return false;
    }
  }

  #writeJoined(): void {
    this.#joinedRequests = this.#joinedRequests.filter(
      (each) => !this.#join(each) && ++each.writes < writesUntilJoined,
    );
    if (this.#joinedRequests.length > 0) setImmediate(() => this.#arm(this.#options.flushMs));
  }

  #join(joinedRequest: JoinedRequest): boolean {
    try {
      return this.#options.writer.join(joinedRequest);
    } catch (error) {
      if (isTemporary(error)) throw error;
      this.#options.log.warn(
        { request: joinedRequest.requestId, error: messageOf(error) },
        'a request cannot join its session',
      );
      return true;
    }
  }

  get health(): Omit<LedgerHealthView, 'replaced' | 'budgetsError' | 'capturedBytes'> {
    return {
      ok: this.#lastError === null,
      pending: this.#rows.length,
      spooled: 0,
      dropped: this.#droppedCount,
      setAside: this.#options.setAside.view,
      lastError: this.#lastError,
    };
  }

  /** The usage of ended requests that are not in the ledger: pending ones, and those that it refuses. */
  spent(question: SpentQuery): Spent {
    const pending = rowsToWrite(this.#rows).filter(isFinished).map(spentByEnded);
    return plus(spentIn(pending, question), this.#options.setAside.spent(question));
  }

  /** Writes pending rows, without retries. */
  close(): void {
    this.flush();
    this.#disarm();
  }

  #markInterrupted(): void {
    const interrupted = this.#options.writer.markInterrupted();
    this.#isMarked = true;
    if (interrupted > 0) this.#options.log.warn({ interrupted }, 'requests of the run before were interrupted');
  }

  #keepForLater(error: unknown): void {
    const tooMany = Math.max(0, this.#rows.length - maxPending);
    const dropped = this.#rows.splice(0, tooMany);
    this.#captures.splice(0, Math.max(0, this.#captures.length - maxPendingCaptures));
    // A request has a row for its beginning and one for its end, and is lost only once.
    this.#droppedCount += dropped.filter(isFinished).length;
    const message = messageOf(error);
    if (message !== this.#lastError) {
      const { pending, dropped: lost } = this.health;
      this.#options.log.warn({ error: message, pending, dropped: lost }, 'the ledger cannot be written');
    }
    this.#lastError = message;
    this.#arm(retryMs);
  }

  #arm(delayMs: number): void {
    this.#timer ??= after(this.#flushDue, delayMs).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

// Divides a batch that the database refuses, until what it refuses stands alone. Pure.

export interface Piece {
  /** One for each request. */
  rows: readonly (BegunRow | EndedRow)[];
  captures: readonly Capture[];
  joined: readonly JoinedRequest[];
}

/** Empty if the piece cannot be divided. A capture stays with the row of its request as long as that has neighbours. */
export function halvesOf({ rows, captures, joined }: Piece): Piece[] {
  if (rows.length > 1) {
    const first = rows.slice(0, rows.length / 2);
    const ids = new Set(first.map(({ id }) => id));
    return [
      { rows: first, captures: captures.filter(({ id }) => ids.has(id)), joined: [] },
      // Requests join sessions after they are written.
      { rows: rows.slice(first.length), captures: captures.filter(({ id }) => !ids.has(id)), joined },
    ];
  }
  const each: Piece[] = [
    ...rows.map((row) => ({ ...nothing, rows: [row] })),
    ...captures.map((capture) => ({ ...nothing, captures: [capture] })),
    ...joined.map((joinedRequest) => ({ ...nothing, joined: [joinedRequest] })),
  ];
  return each.length > 1 ? each : [];
}

const nothing: Piece = { rows: [], captures: [], joined: [] };
