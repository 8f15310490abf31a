/**
 * The ledger: the durable record of requests, one row each. It hears of a request's start and end, keeps both in memory
 * and writes them together at most 100 ms later, so that no request ever waits for the disk; a failed write is tried
 * again and never reaches a request. It must not know how a request is served, nor who asks for the records.
 *
 * One process owns a ledger: opening it marks what the run before left unfinished. Who only reads (the command line,
 * while the engine runs) uses `createLedgerQueries` on a database of its own.
 */
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import { type Database, sqliteCode } from '../database.ts';
import type { FirstByteTimes, OverTimeQuestion, UsageOverTimeQuestion, UsageStep } from './over-time.ts';
import {
  type CapturedBodies,
  createLedgerQueries,
  type LedgerQueries,
  type RequestFilter,
  type RequestPage,
  type UsageQuestion,
  type UsageSummary,
} from './queries.ts';
import { createRetention, type Retention, type RetentionLimits } from './retention.ts';
import type { LedgerRow } from './rows.ts';
import { type Capture, createLedgerWriter, type LedgerWriter } from './writer.ts';

export interface LedgerSettings extends RetentionLimits {
  /** Bytes kept of each captured body. */
  captureMaxBytes: number;
}

export interface LedgerHealth {
  ok: boolean;
  /** Rows that wait to be written. */
  pending: number;
  /** Rows lost because too many waited, or because they could not be written at all. */
  dropped: number;
  lastError: string | null;
}

export interface Ledger extends LedgerQueries {
  /** A request was admitted. Costs a push to an array. */
  started(row: RequestStarted): void;
  /** A request ended; one that was never reported as started is right too. Costs a push to an array. */
  finished(row: RequestRecord): void;
  /** Keeps bodies of a request, cut at the limit. Only for groups whose capture is on. */
  capture(id: string, bodies: { request?: Uint8Array; response?: Uint8Array }): void;
  /** Writes what waits. Never throws: what cannot be written keeps waiting. */
  flush(): void;
  health(): LedgerHealth;
  /** Deletes what is past retention, in small pieces; also done now and then by itself. */
  sweep(): Promise<number>;
  close(): void;
}

export interface LedgerOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  /** Asked each time it matters, so that a changed setting holds at once. */
  settings?: () => LedgerSettings;
  now?: () => number;
  /** How long a row may wait; at most 100. */
  flushMs?: number;
}

const defaults: LedgerSettings = {
  retentionDays: 90,
  retentionRows: 1_000_000,
  captureMaxBytes: 256 * 1024,
  captureRetentionDays: 7,
};
/** Rows that may wait while writing fails; beyond, the oldest are dropped. */
const maxPending = 10_000;
/** Captured bodies are large, so fewer may wait. */
const maxPendingCaptures = 200;
/** With so many rows waiting they are written at once: a batch stops everything else for about 2 ms, not longer. */
const fullBatch = 256;
const retryMs = 1_000;
const firstSweepMs = 60_000;
const sweepEveryMs = 15 * 60_000;

/** Failures that may pass by themselves: busy, locked, read-only, input/output, full, cannot open. */
const passing = new Set([5, 6, 8, 10, 13, 14]);

export function createLedger(options: LedgerOptions): Ledger {
  return new SqliteLedger(options);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

class SqliteLedger implements Ledger {
  readonly #log: LedgerOptions['log'];
  readonly #settings: () => LedgerSettings;
  readonly #now: () => number;
  readonly #flushMs: number;
  readonly #writer: LedgerWriter;
  readonly #retention: Retention;
  readonly #queries: LedgerQueries;
  readonly #firstSweep = setTimeout(() => this.#sweepQuietly(), firstSweepMs).unref();
  readonly #sweeps = setInterval(() => this.#sweepQuietly(), sweepEveryMs).unref();
  #rows: (RequestStarted | RequestRecord)[] = [];
  #captures: Capture[] = [];
  #timer: NodeJS.Timeout | null = null;
  #dropped = 0;
  #lastError: string | null = null;

  constructor(options: LedgerOptions) {
    const { database, log, settings = () => defaults, now = Date.now, flushMs = 50 } = options;
    this.#log = log;
    this.#settings = settings;
    this.#now = now;
    this.#flushMs = flushMs;
    this.#writer = createLedgerWriter(database);
    this.#retention = createRetention(database, now);
    this.#queries = createLedgerQueries(database);
    const interrupted = this.#writer.markInterrupted();
    if (interrupted > 0) log.warn({ interrupted }, 'requests of the run before were interrupted');
  }

  /** Bound, since it is handed on as a listener. */
  readonly started = (row: RequestStarted): void => this.#push(row);
  readonly finished = (row: RequestRecord): void => this.#push(row);

  #push(row: RequestStarted | RequestRecord): void {
    this.#rows.push(row);
    if (this.#rows.length === fullBatch && this.#lastError === null) setImmediate(this.flush);
    this.#arm(this.#flushMs);
  }

  #arm(delayMs: number): void {
    this.#timer ??= setTimeout(this.flush, delayMs).unref();
  }

  capture(id: string, bodies: { request?: Uint8Array; response?: Uint8Array }): void {
    const { captureMaxBytes } = this.#settings();
    const cut = (body?: Uint8Array) => body?.slice(0, captureMaxBytes) ?? null;
    this.#captures.push({
      id,
      capturedAt: this.#now(),
      request: cut(bodies.request),
      response: cut(bodies.response),
    });
    this.#arm(this.#flushMs);
  }

  readonly flush = (): void => {
    this.#disarm();
    if (this.#rows.length === 0 && this.#captures.length === 0) return;
    try {
      this.#writer.write(this.#rows, this.#captures);
      this.#rows = [];
      this.#captures = [];
      this.#lastError = null;
    } catch (error) {
      this.#keepForLater(error);
    }
  };

  #keepForLater(error: unknown): void {
    const mayPass = passing.has(sqliteCode(error) ?? -1);
    const tooMany = mayPass ? Math.max(0, this.#rows.length - maxPending) : this.#rows.length;
    this.#rows.splice(0, tooMany);
    this.#captures.splice(0, mayPass ? Math.max(0, this.#captures.length - maxPendingCaptures) : Infinity);
    this.#dropped += tooMany;
    const message = messageOf(error);
    if (message !== this.#lastError) {
      const { pending, dropped } = this.health();
      this.#log.warn({ error: message, pending, dropped }, 'the ledger cannot be written');
    }
    this.#lastError = message;
    this.#arm(retryMs);
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  health(): LedgerHealth {
    return {
      ok: this.#lastError === null,
      pending: this.#rows.length,
      dropped: this.#dropped,
      lastError: this.#lastError,
    };
  }

  sweep(): Promise<number> {
    return this.#retention.sweep(this.#settings());
  }

  async #sweepQuietly(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'old records cannot be deleted');
    }
  }

  listRequests(filter: RequestFilter): Promise<RequestPage> {
    this.flush();
    return this.#queries.listRequests(filter);
  }

  getRequest(id: string): Promise<LedgerRow | null> {
    this.flush();
    return this.#queries.getRequest(id);
  }

  summarizeUsage(question: UsageQuestion): Promise<UsageSummary[]> {
    this.flush();
    return this.#queries.summarizeUsage(question);
  }

  usageOverTime(question: UsageOverTimeQuestion): Promise<UsageStep[]> {
    this.flush();
    return this.#queries.usageOverTime(question);
  }

  firstByteTimes(question: OverTimeQuestion): Promise<FirstByteTimes> {
    this.flush();
    return this.#queries.firstByteTimes(question);
  }

  lastUsed(): Map<string, number> {
    this.flush();
    return this.#queries.lastUsed();
  }

  readCapture(id: string): CapturedBodies | null {
    this.flush();
    return this.#queries.readCapture(id);
  }

  close(): void {
    clearTimeout(this.#firstSweep);
    clearInterval(this.#sweeps);
    this.#retention.stop();
    this.flush();
    this.#disarm();
  }
}
