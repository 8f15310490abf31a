/**
 * Keeps requests in memory until they are written to PostgreSQL, in batches within a fraction of a second. A batch that
 * may or may not have been written is written again unchanged, so that it counts once. While the database is
 * unavailable or slow, batches wait on disk. If the disk has no room, rows wait in memory, and beyond a limit the
 * oldest are dropped and counted. A row that the database refuses is set aside alone.
 */
import { randomUUID } from 'node:crypto';
import type { LedgerHealthView } from '../../contract/status-views.ts';
import { settleWithin } from '../../ground/timers.ts';
import { messageOf } from '../rules/failures.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import { bareRow } from '../rules/storable-row.ts';
import type { Capture } from '../sqlite/capture-rows.ts';
import type { JoinedRequest } from '../sqlite/derived-rows.ts';
import type { SetAsideRows } from '../sqlite/set-aside-rows.ts';
import { halvesOf, isFinished, type Piece, rowsToWrite } from '../sqlite/writer.ts';
import { LaterWrite } from './later-write.ts';
import type { LedgerSpool } from './ledger-spool.ts';
import type { Batch, LedgerWriter } from './ledger-writer.ts';
import { failsForEver } from './postgres.ts';

interface Options {
  writer: Pick<LedgerWriter, 'write'>;
  setAside: SetAsideRows;
  /** null to keep rows in memory only. */
  spool: LedgerSpool | null;
  log: { warn(fields: object, message: string): void };
  flushMs?: number;
  /**
   * How often rows are moved to disk while they cannot be written, or while writing one batch takes more than twice
   * this time.
   */
  spillMs?: number;
  now?: () => number;
}

const defaultFlushMs = 100;
const defaultSpillMs = 1_000;
/** Nearly all requests end soon. Waiting for the end takes one insert instead of an insert and an update. */
const youngMs = 50;
const rowsPerBatch = 1_000;
const maxWaiting = 10_000;
/** Captured bodies are large, so fewer are kept. */
const capturesPerBatch = 20;
const maxWaitingCaptures = 200;
/** The longest that writing continues at shutdown; the rest goes to disk. */
const closeMs = 2_000;

export class WaitingBatches {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #writing: LaterWrite;
  readonly #spilling: LaterWrite;
  #rows: (BegunRow | EndedRow)[] = [];
  #captures: Capture[] = [];
  #joinedRequests: JoinedRequest[] = [];
  /** The batch that is being written, or that may or may not have been written. */
  #frozen: Batch | null = null;
  /** When that write began, by the monotonic clock. */
  #frozenAtMs = 0;
  /** The batch that is being moved to disk. */
  #spilled: Batch | null = null;
  #droppedCount = 0;
  /** Young rows are written as well. */
  #isFlushing = false;
  #isClosing = false;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => options.log.warn({ error, ...this.#counts }, 'the ledger cannot be written'),
      delayMs: options.flushMs ?? defaultFlushMs,
    });
    this.#spilling = new LaterWrite({
      write: () => this.#spillIfLate(),
      failed: (error) => options.log.warn({ error }, 'requests cannot wait on disk'),
      delayMs: options.spillMs ?? defaultSpillMs,
    });
    if (options.spool?.isEmpty === false) {
      options.log.warn({ rows: options.spool.rows }, 'requests of the run before wait on disk, and are written now');
      this.#writing.due();
    }
  }

  add(row: BegunRow | EndedRow): void {
    this.#rows.push(row);
    // Frozen rows are never dropped, because they may already be written.
    while (this.#rows.length > maxWaiting) {
      // A request has a row for its beginning and one for its end, and is lost only once.
      const lost = this.#rows.shift();
      if (lost && isFinished(lost)) this.#droppedCount += 1;
    }
    this.#due();
  }

  addCapture(capture: Capture): void {
    this.#captures.push(capture);
    if (this.#captures.length > maxWaitingCaptures) this.#captures.shift();
    this.#due();
  }

  join(joinedRequest: JoinedRequest): void {
    this.#joinedRequests.push(joinedRequest);
    if (this.#joinedRequests.length > maxWaiting) this.#joinedRequests.shift();
    this.#due();
  }

  get health(): Omit<LedgerHealthView, 'replaced' | 'budgetsError' | 'capturedBytes'> {
    const lastError = this.#writing.problem;
    return { ok: lastError === null, ...this.#counts, setAside: this.#options.setAside.view, lastError };
  }

  get #counts(): Pick<LedgerHealthView, 'pending' | 'spooled' | 'dropped'> {
    const { spool } = this.#options;
    const spooled = spool?.rows ?? 0;
    const frozen = this.#frozen && !spool?.has(this.#frozen) ? this.#frozen.rows.length : 0;
    const dropped = this.#droppedCount + (spool?.lostRows ?? 0);
    const spilled = this.#spilled?.rows.length ?? 0;
    return { pending: this.#rows.length + frozen + spilled + spooled, spooled, dropped };
  }

  /**
   * Resolves once everything in memory is written, or cannot be written now. Batches on disk are written later. Never
   * rejects.
   */
  async flush(): Promise<void> {
    this.#writing.due();
    if (this.#options.spool?.isEmpty === false) return;
    this.#isFlushing = true;
    await this.#writing.flush();
    this.#isFlushing = false;
  }

  /**
   * Writes the waiting rows for a short time; the rest stays on disk for the next run. Resolves with whether the database
   * has answered, if only with an error.
   */
  async close(): Promise<boolean> {
    this.#isFlushing = true;
    this.#writing.due();
    let hasAnswered = false;
    const writing = this.#writing.flush().then(() => {
      hasAnswered = true;
    });
    await settleWithin(closeMs, writing);
    this.#isClosing = true;
    this.#writing.stop();
    this.#spilling.stop();
    await this.#spill();
    const { pending, spooled } = this.#counts;
    if (pending > 0) this.#options.log.warn({ pending, spooled }, 'requests could not be written to the database');
    return hasAnswered;
  }

  #due(): void {
    this.#writing.due();
    if (this.#options.spool) this.#spilling.due();
  }

  async #write(): Promise<void> {
    while (!this.#isClosing) {
      this.#frozen ??= (await this.#options.spool?.oldest()) ?? this.#freeze();
      if (this.#frozen === null) break;
      await this.#writeFrozen(this.#frozen);
    }
    if (this.#rows.length + this.#joinedRequests.length > 0) this.#writing.due();
  }

  /** null if no row is due. */
  #freeze(): Batch | null {
    const nowMs = this.#now();
    const rows: (BegunRow | EndedRow)[] = [];
    const remainingRows: (BegunRow | EndedRow)[] = [];
    const ended = new Set(this.#rows.flatMap((row) => (isFinished(row) ? [row.id] : [])));
    for (const row of this.#rows) {
      // A clock that was set back must not keep rows waiting.
      const isYoung = !isFinished(row) && !ended.has(row.id) && Math.abs(nowMs - row.startedAt) < youngMs;
      if (rows.length === rowsPerBatch || (isYoung && !this.#isFlushing)) remainingRows.push(row);
      else rows.push(row);
    }
    this.#rows = remainingRows;
    const captures = this.#captures.splice(0, capturesPerBatch);
    const joined = this.#joinedOtherThan(remainingRows);
    return rows.length + captures.length + joined.length === 0 ? null : { id: randomUUID(), rows, captures, joined };
  }

  /** Removes and returns those whose requests are not in `remainingRows`; the others are written later, with their requests. */
  #joinedOtherThan(remainingRows: readonly (BegunRow | EndedRow)[]): JoinedRequest[] {
    if (this.#joinedRequests.length === 0) return [];
    const ids = new Set(remainingRows.map(({ id }) => id));
    const joinedNow = this.#joinedRequests.filter(({ requestId }) => !ids.has(requestId));
    this.#joinedRequests = this.#joinedRequests.filter(({ requestId }) => ids.has(requestId));
    return joinedNow;
  }

  async #writeFrozen(batch: Batch): Promise<void> {
    const { writer, spool } = this.#options;
    this.#frozenAtMs = performance.now();
    try {
      await writer.write(batch);
    } catch (error) {
      if (!failsForEver(error)) throw error;
      await writeApart(batch, this.#options);
    }
    // Cleared before the batch is removed, so that it is not moved to disk again.
    this.#frozen = null;
    await spool?.remove(batch);
  }

  async #spillIfLate(): Promise<void> {
    const { spool, spillMs = defaultSpillMs } = this.#options;
    const isSlow = this.#frozen !== null && performance.now() - this.#frozenAtMs > 2 * spillMs;
    const isLate = isSlow || this.#writing.problem !== null || spool?.isEmpty === false;
    if (isLate) await this.#spill();
    // The write may have ended in the meantime and found nothing on disk.
    if (spool?.isEmpty === false) this.#writing.due();
    if (this.#frozen !== null || this.#rows.length > 0) this.#spilling.due();
  }

  /** Moves everything that waits to disk, as far as there is room. */
  async #spill(): Promise<void> {
    const { spool } = this.#options;
    if (spool === null) return;
    if (this.#frozen && !spool.has(this.#frozen)) await spool.add(this.#frozen);
    for (let batch = this.#freeze(); batch; batch = this.#freeze()) {
      this.#spilled = batch;
      const isOnDisk = await spool.add(batch);
      this.#spilled = null;
      if (!isOnDisk) return this.#requeue(batch);
    }
  }

  #requeue({ rows, captures = [], joined = [] }: Batch): void {
    this.#rows.unshift(...rows);
    this.#captures.unshift(...captures);
    this.#joinedRequests.unshift(...joined);
  }
}

// Writes a batch that the database refuses, except for what it refuses of it.

interface Ports {
  writer: Pick<LedgerWriter, 'write'>;
  setAside: SetAsideRows;
  log: { warn(fields: object, message: string): void };
}

/**
 * Rejects if nothing can be written now. The batch may then be written again as a whole: rows count once, because a request
 * has only one.
 */
async function writeApart({ rows, captures = [], joined = [], replica }: Batch, ports: Ports): Promise<void> {
  const whole = { rows: rowsToWrite(rows), captures, joined };
  const origin = replica === undefined ? {} : { replica };
  const pieces = halvesOf(whole).length > 0 ? halvesOf(whole) : [whole];
  for (let piece = pieces.shift(); piece; piece = pieces.shift())
    pieces.unshift(...(await writePiece(piece, origin, ports)));
}

type Origin = Pick<Batch, 'replica'>;

/** Resolves with the pieces to write instead. */
async function writePiece(piece: Piece, origin: Origin, ports: Ports): Promise<Piece[]> {
  try {
    await ports.writer.write({ id: randomUUID(), ...piece, ...origin });
    return [];
  } catch (error) {
    if (!failsForEver(error)) throw error;
    const halves = halvesOf(piece);
    if (halves.length === 0) await refuse(piece, { origin, ports, error: messageOf(error) });
    return halves;
  }
}

interface Refused {
  origin: Origin;
  ports: Ports;
  error: string;
}

async function refuse({ rows: [row], captures: [capture], joined: [join] }: Piece, refused: Refused): Promise<void> {
  const { setAside, log } = refused.ports;
  const { error } = refused;
  if (capture) log.warn({ request: capture.id, error }, 'a captured text cannot be written');
  if (join) log.warn({ request: join.requestId, error }, 'a request cannot join its session');
  if (row && !setAside.has(row)) setAside.add({ row, error, isCounted: await writeBare(row, refused) });
}

async function writeBare(row: BegunRow | EndedRow, { origin, ports }: Refused): Promise<boolean> {
  try {
    await ports.writer.write({ id: randomUUID(), rows: [bareRow(row)], ...origin });
    return true;
  } catch (error) {
    if (!failsForEver(error)) throw error;
    return false;
  }
}
