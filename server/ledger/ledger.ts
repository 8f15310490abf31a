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
import { createLedgerQueries, type LedgerQueries } from './queries.ts';
import { createRetention, type RetentionLimits } from './retention.ts';
import { type Capture, createLedgerWriter } from './writer.ts';

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
  const { database, log, settings = () => defaults, now = Date.now, flushMs = 50 } = options;
  const writer = createLedgerWriter(database);
  const retention = createRetention(database, now);
  const queries = createLedgerQueries(database);
  let rows: (RequestStarted | RequestRecord)[] = [];
  let captures: Capture[] = [];
  let timer: NodeJS.Timeout | null = null;
  let dropped = 0;
  let lastError: string | null = null;

  const interrupted = writer.markInterrupted();
  if (interrupted > 0) log.warn({ interrupted }, 'requests of the run before were interrupted');

  function arm(delayMs: number): void {
    timer ??= setTimeout(flush, delayMs).unref();
  }

  function push(row: RequestStarted | RequestRecord): void {
    rows.push(row);
    if (rows.length === fullBatch && lastError === null) setImmediate(flush);
    arm(flushMs);
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (rows.length === 0 && captures.length === 0) return;
    try {
      writer.write(rows, captures);
      rows = [];
      captures = [];
      lastError = null;
    } catch (error) {
      keepForLater(error);
    }
  }

  function keepForLater(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const mayPass = passing.has(sqliteCode(error) ?? -1);
    const tooMany = mayPass ? Math.max(0, rows.length - maxPending) : rows.length;
    rows.splice(0, tooMany);
    captures.splice(0, mayPass ? Math.max(0, captures.length - maxPendingCaptures) : captures.length);
    dropped += tooMany;
    if (message !== lastError)
      log.warn({ error: message, pending: rows.length, dropped }, 'the ledger cannot be written');
    lastError = message;
    arm(retryMs);
  }

  async function sweepQuietly(): Promise<void> {
    try {
      await retention.sweep(settings());
    } catch (error) {
      log.warn({ error: error instanceof Error ? error.message : String(error) }, 'old records cannot be deleted');
    }
  }
  const firstSweep = setTimeout(sweepQuietly, firstSweepMs).unref();
  const sweeps = setInterval(sweepQuietly, sweepEveryMs).unref();

  return {
    started: push,
    finished: push,
    capture(id, bodies) {
      const { captureMaxBytes } = settings();
      const cut = (body?: Uint8Array) => body?.slice(0, captureMaxBytes) ?? null;
      captures.push({ id, capturedAt: now(), request: cut(bodies.request), response: cut(bodies.response) });
      arm(flushMs);
    },
    flush,
    health: () => ({ ok: lastError === null, pending: rows.length, dropped, lastError }),
    sweep: () => retention.sweep(settings()),
    listRequests(filter) {
      flush();
      return queries.listRequests(filter);
    },
    getRequest(id) {
      flush();
      return queries.getRequest(id);
    },
    summarizeUsage(question) {
      flush();
      return queries.summarizeUsage(question);
    },
    lastUsed() {
      flush();
      return queries.lastUsed();
    },
    readCapture(id) {
      flush();
      return queries.readCapture(id);
    },
    close() {
      clearTimeout(firstSweep);
      clearInterval(sweeps);
      retention.stop();
      flush();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
