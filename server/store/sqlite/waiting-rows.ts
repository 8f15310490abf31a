/**
 * Buffers rows in memory and writes them in batches, within 100 ms. Failed writes are retried; if they keep failing,
 * the oldest rows are dropped and counted. A row that can never be written is set aside alone.
 */
import type { LedgerHealthView } from '../../contract/status-views.ts';
import { after } from '../../ground/timers.ts';
import { isTemporary, messageOf } from '../rules/failures.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import { bareRow } from '../rules/storable-row.ts';
import type { Capture } from './capture-rows.ts';
import { halvesOf, type Piece } from './halves.ts';
import type { JoinedRequest } from './session-rows.ts';
import { type SetAsideRows, spentByEnded, spentIn } from './set-aside-rows.ts';
import { plus, type Spent, type SpentQuery } from './usage-history.ts';
import { isFinished, type LedgerWriter, rowsToWrite } from './writer.ts';

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
