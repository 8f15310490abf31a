/**
 * Requests in memory until they are written to PostgreSQL, in batches within a fraction of a second. A batch whose fate is not
 * known is written again as it was, so that it counts once. While the database is away, rows wait; beyond a number the oldest are
 * dropped and counted.
 */
import { randomUUID } from 'node:crypto';
import type { LedgerHealthView } from '../../contract/status-views.ts';
import type { Capture } from '../../ledger/capture-rows.ts';
import type { BegunRow, EndedRow } from '../../ledger/rows.ts';
import type { JoinedRequest } from '../../ledger/session-rows.ts';
import { isFinished } from '../../ledger/writer.ts';
import { isTemporary } from './failures.ts';
import { LaterWrite } from './later-write.ts';
import type { Batch, LedgerWriter } from './ledger-writer.ts';

interface Options {
  writer: Pick<LedgerWriter, 'write' | 'join'>;
  log: { warn(fields: object, message: string): void };
  flushMs?: number;
  now?: () => number;
}

const defaultFlushMs = 100;
/** Nearly all requests end soon, and then need one insert rather than an insert and an update. */
const youngMs = 50;
const rowsPerBatch = 1_000;
const maxWaiting = 10_000;
/** Captured bodies are large, so fewer are kept. */
const capturesPerBatch = 20;
const maxWaitingCaptures = 200;
/** By then a request that has begun is written. */
const writesUntilJoined = 3;

export class WaitingBatches {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #writing: LaterWrite;
  #rows: (BegunRow | EndedRow)[] = [];
  #captures: Capture[] = [];
  /** The batch that is being written, or whose fate is not known. */
  #frozen: Batch | null = null;
  #joined: (JoinedRequest & { writes: number })[] = [];
  #dropped = 0;
  /** Young rows are written as well. */
  #isFlushing = false;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => {
        const { pending, dropped } = this.health;
        options.log.warn({ error, pending, dropped }, 'the ledger cannot be written');
      },
      delayMs: options.flushMs ?? defaultFlushMs,
    });
  }

  add(row: BegunRow | EndedRow): void {
    this.#rows.push(row);
    // Never the frozen ones, which may be written already.
    if (this.#rows.length > maxWaiting) {
      this.#rows.shift();
      this.#dropped += 1;
    }
    this.#writing.due();
  }

  addCapture(capture: Capture): void {
    this.#captures.push(capture);
    if (this.#captures.length > maxWaitingCaptures) this.#captures.shift();
    this.#writing.due();
  }

  join(joined: JoinedRequest): void {
    this.#joined.push({ ...joined, writes: 0 });
    this.#writing.due();
  }

  get health(): Pick<LedgerHealthView, 'ok' | 'pending' | 'dropped' | 'lastError'> {
    const lastError = this.#writing.problem;
    const pending = this.#rows.length + (this.#frozen?.rows.length ?? 0);
    return { ok: lastError === null, pending, dropped: this.#dropped, lastError };
  }

  /** Resolves once everything is written, or cannot be written now. Never rejects. */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#writing.due();
    await this.#writing.flush();
    this.#isFlushing = false;
  }

  /** Writes what waits, without retries. */
  async close(): Promise<void> {
    await this.flush();
    await this.#writing.close();
  }

  async #write(): Promise<void> {
    while (this.#frozen ?? this.#freeze()) await this.#writeFrozen();
    if (this.#joined.length > 0) await this.#writeJoined();
    if (this.#rows.length + this.#joined.length > 0) this.#writing.due();
  }

  /** Null if no row is due. */
  #freeze(): Batch | null {
    const nowMs = this.#now();
    const rows: (BegunRow | EndedRow)[] = [];
    const left: (BegunRow | EndedRow)[] = [];
    const ended = new Set(this.#rows.flatMap((row) => (isFinished(row) ? [row.id] : [])));
    for (const row of this.#rows) {
      // A clock that was set back must not keep rows waiting.
      const isYoung = !isFinished(row) && !ended.has(row.id) && Math.abs(nowMs - row.startedAt) < youngMs;
      if (rows.length === rowsPerBatch || (isYoung && !this.#isFlushing)) left.push(row);
      else rows.push(row);
    }
    this.#rows = left;
    const captures = this.#captures.splice(0, capturesPerBatch);
    this.#frozen = rows.length + captures.length === 0 ? null : { id: randomUUID(), rows, captures };
    return this.#frozen;
  }

  async #writeFrozen(): Promise<void> {
    const batch = this.#frozen;
    if (batch === null) return;
    try {
      await this.#options.writer.write(batch);
      this.#frozen = null;
    } catch (error) {
      if (!isTemporary(error)) {
        // It would fail for ever, and hold up all others.
        this.#dropped += batch.rows.length;
        this.#frozen = null;
      }
      throw error;
    }
  }

  async #writeJoined(): Promise<void> {
    const joined = this.#joined;
    this.#joined = [];
    for (const [index, each] of joined.entries()) {
      try {
        if (!(await this.#options.writer.join(each)) && ++each.writes < writesUntilJoined) this.#joined.push(each);
      } catch (error) {
        this.#joined.push(...joined.slice(index));
        throw error;
      }
    }
  }
}
