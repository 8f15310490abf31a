/**
 * Buffers rows in memory and writes them in batches, within 100 ms. Failed writes are retried; if they keep failing,
 * the oldest rows are dropped and counted.
 */
import { shadowAccount } from '../contract/ledger.ts';
import type { LimitScope } from '../contract/limits.ts';
import type { LedgerHealthView } from '../contract/status-views.ts';
import { isTemporary, messageOf } from '../database/failures.ts';
import type { Capture } from './capture-rows.ts';
import type { BegunRow, EndedRow } from './rows.ts';
import type { JoinedRequest } from './session-rows.ts';
import { isUnpriced } from './usage-cells.ts';
import type { HistoryRange, Spent } from './usage-history.ts';
import { isFinished, type LedgerWriter } from './writer.ts';

interface WaitingRowsOptions {
  writer: LedgerWriter;
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
      this.#rows = this.#options.writer.write(this.#rows, this.#captures, mayWait);
      this.#ended = 0;
      this.#captures = [];
      if (this.#joinedRequests.length > 0) this.#writeJoined();
      this.#lastError = null;
    } catch (error) {
      this.#keepForLater(error);
    }
  }

  #writeJoined(): void {
    const { writer } = this.#options;
    this.#joinedRequests = this.#joinedRequests.filter(
      (each) => !writer.join(each) && ++each.writes < writesUntilJoined,
    );
    if (this.#joinedRequests.length > 0) setImmediate(() => this.#arm(this.#options.flushMs));
  }

  get health(): Omit<LedgerHealthView, 'replaced' | 'budgetsError'> {
    return {
      ok: this.#lastError === null,
      pending: this.#rows.length,
      spooled: 0,
      dropped: this.#droppedCount,
      lastError: this.#lastError,
    };
  }

  /** The usage of pending requests that began in the range. */
  spent(scope: LimitScope, id: string, range: HistoryRange): Spent {
    return spentIn(this.#rows, { scope, id, range });
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
    const isKept = isTemporary(error);
    const tooMany = isKept ? Math.max(0, this.#rows.length - maxPending) : this.#rows.length;
    this.#rows.splice(0, tooMany);
    this.#captures.splice(0, isKept ? Math.max(0, this.#captures.length - maxPendingCaptures) : Infinity);
    this.#droppedCount += tooMany;
    const message = messageOf(error);
    if (message !== this.#lastError) {
      const { pending, dropped } = this.health;
      this.#options.log.warn({ error: message, pending, dropped }, 'the ledger cannot be written');
    }
    this.#lastError = message;
    this.#arm(retryMs);
  }

  #arm(delayMs: number): void {
    this.#timer ??= setTimeout(this.#flushDue, delayMs).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The usage of those of the requests that have ended. */
function spentIn(
  rows: readonly (BegunRow | EndedRow)[],
  { scope, id, range }: { scope: LimitScope; id: string; range: HistoryRange },
): Spent {
  const spent = { usd: 0, tokens: 0, unpriced: 0 };
  for (const row of rows) {
    const recordedOwner = scope === 'key' ? row.keyId : row.groupId;
    const owner = row.shadowOf === null ? recordedOwner : shadowAccount(row.groupId);
    if (!isFinished(row) || owner !== id || row.startedAt < range.startMs || row.startedAt >= range.endMs) continue;
    spent.usd += row.costUsd ?? 0;
    spent.tokens += (row.usage?.inputTokens ?? 0) + (row.usage?.outputTokens ?? 0);
    if (isUnpriced(row)) spent.unpriced += 1;
  }
  return spent;
}
