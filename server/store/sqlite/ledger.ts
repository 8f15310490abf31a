/**
 * The ledger: the durable record of requests, one row each. Starts and ends of requests are collected in memory and
 * written in batches within 100 ms, so that no request waits for the disk. Failed writes are retried and do not affect
 * requests.
 *
 * One process owns a ledger. Opening it marks requests that the previous process left unfinished.
 */

import { setImmediate } from 'node:timers/promises';
import type { CapturedExchange } from '../../contract/capture.ts';
import type { RequestRecord, RequestStarted, Reserved } from '../../contract/ledger.ts';
import type {
  ClientUseView,
  FirstByteView,
  RequestCount,
  RequestView,
  UsageStepView,
  UsageView,
} from '../../contract/request-views.ts';
import type { SessionInFull } from '../../contract/session-views.ts';
import type { LedgerHealthView } from '../../contract/status-views.ts';
import { gibibyte } from '../../contract/units.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { after, every } from '../../ground/timers.ts';
import type { PinStore } from '../ports/kept-stores.ts';
import { number, text } from '../rules/columns.ts';
import { isTemporary, messageOf, unreadable } from '../rules/failures.ts';
import type { ClientModelUse, UnpricedUse } from '../rules/model-uses.ts';
import type { FirstByteQuery, UsageOverTimeQuery, UsageQuery } from '../rules/over-time.ts';
import type { NameDimension, RequestConditions } from '../rules/request-conditions.ts';
import type { BookedJob } from '../rules/rows.ts';
import { budgetUsed, type SessionFilter, type SessionPage, type SessionReading } from '../rules/session-queries.ts';
import { storableRow } from '../rules/storable-row.ts';
import { type BudgetSums, createBudgetSums } from './budget-sums.ts';
import { type Database, openSqliteDatabase, type Replaced } from './database.ts';
import { createUsageDays, type JoinedRequest, type UsageDays } from './derived-rows.ts';
import {
  createLedgerQueries,
  type KeptCapture,
  type LedgerQueries,
  type RequestFilter,
  type RequestPage,
} from './queries.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { createRepair, type Repair } from './repair.ts';
import { createPins } from './request-filter.ts';
import {
  createRetention,
  createSweepClock,
  type Retention,
  type RetentionLimits,
  type SweepClock,
} from './retention.ts';
import { budgetMigrations } from './schema.ts';
import { SetAsideRows } from './set-aside-rows.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';
import { createUsageHistory, type LocalUsageHistory, plus, type UsageHistory } from './usage-history.ts';
import { createLedgerWriter, WaitingRows } from './writer.ts';

export interface Ledger extends LedgerQueries {
  /** In SQLite, includes rows that are not written yet. */
  readonly history: UsageHistory;
  /** Counts of refused requests that have no rows. */
  readonly refusals: Refusals;
  /** Requests that are kept whatever their age. */
  readonly pins: PinStore;
  /** Amounts spent of budgets, in a separate file. */
  readonly budgets: BudgetSums;
  /** Records an admitted request, in memory. */
  started(row: RequestStarted, reserved?: Reserved | null): void;
  /**
   * Records the end of a request, started or not, in memory. Returns the row as the database can hold it. `books`: the job
   * whose usage this record contains.
   */
  finished(row: RequestRecord, books?: BookedJob): RequestRecord;
  /** The same for a request that was refused over a limit: counted in `refusals` and the sums of usage, without a row. */
  counted(row: RequestRecord): RequestRecord;
  /** Records that a request which was recorded without a session belongs to one, in memory. */
  joined(joined: JoinedRequest): void;
  readonly sessionStates: SessionStates;
  /** Keeps headers and bodies of a request. */
  capture(id: string, exchange: CapturedExchange<Uint8Array>): void;
  /** Writes pending rows. Never throws; rows that cannot be written stay pending. */
  flush(): MaybePromise<void>;
  health(): LedgerHealthView;
  /** Deletes expired rows and rolls up past days, in small batches. Also runs periodically. */
  sweep(): Promise<number>;
  close(): MaybePromise<void>;
}

interface LedgerOptions {
  database: Database;
  /** Stores the budgets' totals; absent: in memory. */
  budgetDatabase?: Database;
  /** For rows that the database refuses; null or absent: they are kept in memory. */
  setAsideFile?: string | null;
  log: { warn(fields: object, message: string): void };
  /** Called on each use, so that changed settings take effect immediately. */
  settings?: () => RetentionLimits;
  now?: () => number;
  /** The time by which rows expire. */
  sweepClock?: SweepClock;
  /** The longest delay of a write; for a request that has only begun, half as long again. At most 66. */
  flushMs?: number;
}

const defaults: RetentionLimits = {
  retentionDays: 90,
  retentionRows: 1_000_000,
  captureRetentionDays: 7,
  captureBytes: gibibyte,
};
const firstSweepMs = 60_000;
const sweepEveryMs = 15 * 60_000;

/** The ledger in SQLite, which answers synchronously. */
export interface LocalLedger extends Ledger {
  readonly history: LocalUsageHistory;
}

export function createLedger(options: LedgerOptions): LocalLedger {
  return new SqliteLedger(options);
}

class SqliteLedger implements LocalLedger {
  readonly #log: LedgerOptions['log'];
  readonly #settings: () => RetentionLimits;
  readonly #now: () => number;
  readonly #setAside: SetAsideRows;
  readonly #waitingRows: WaitingRows;
  readonly #retention: Retention;
  readonly #days: UsageDays;
  readonly #index: TextIndex;
  readonly #captureRoom: CaptureRoom;
  readonly #repair: Repair;
  readonly #queries: LedgerQueries;
  readonly history: LocalUsageHistory;
  readonly budgets: BudgetSums;
  readonly refusals: Refusals;
  readonly pins: PinStore;
  readonly sessionStates: SessionStates;
  readonly #firstSweep = after(() => this.#sweepQuietly(), firstSweepMs).unref();
  readonly #sweeps = every(() => this.#sweepQuietly(), sweepEveryMs).unref();
  #replaced: Replaced | null = null;
  #budgetsAreLost = false;

  constructor(options: LedgerOptions) {
    const { database, log, settings = () => defaults, now = Date.now, flushMs = 50, setAsideFile = null } = options;
    this.#log = log;
    this.#settings = settings;
    this.#now = now;
    this.#days = createUsageDays(database);
    this.#index = createTextIndex(database);
    this.#captureRoom = createCaptureRoom(database, () => this.#settings().captureBytes);
    const writer = createLedgerWriter(database, this.#days, () => {
      this.#index.captureWritten();
      this.#captureRoom.captureWritten();
    });
    this.#setAside = new SetAsideRows({ file: setAsideFile, log });
    this.#waitingRows = new WaitingRows({ writer, setAside: this.#setAside, log, flushMs });
    const { sweepClock = createSweepClock(database, { wallMs: now }) } = options;
    this.#retention = createRetention(database, sweepClock);
    this.#queries = createLedgerQueries(database, this.#index);
    this.history = this.#upToDate(createUsageHistory(database));
    const { budgetDatabase = openSqliteDatabase(':memory:', budgetMigrations) } = options;
    this.refusals = createRefusals({ database, log, flushMs });
    this.pins = createPins(database);
    this.budgets = createBudgetSums({ database: budgetDatabase, log, flushMs });
    this.sessionStates = createSessionStates(database, () => this.flush());
    if (database.notice) this.#noteReplaced(database.notice);
    database.onReplaced((replaced) => this.#noteReplaced(replaced));
    this.flush();
    this.#repair = createRepair(database, log);
  }

  #noteReplaced(replaced: Replaced): void {
    this.#replaced = replaced;
    this.#budgetsAreLost = this.budgets.isEmpty;
  }

  /** Bound functions, since they are passed as listeners. */
  readonly started = (row: RequestStarted, reserved?: Reserved | null): void =>
    this.#waitingRows.add(reserved ? { ...row, reserved } : row);
  readonly finished = (ended: RequestRecord, books?: BookedJob): RequestRecord => {
    const row = storableRow(ended);
    this.#waitingRows.add(books ? { ...row, books } : row);
    return row;
  };

  counted(ended: RequestRecord): RequestRecord {
    const row = storableRow(ended);
    this.refusals.add(row);
    this.#waitingRows.add({ ...row, isOnlyCounted: true });
    return row;
  }

  readonly joined = (joinedRequest: JoinedRequest): void => this.#waitingRows.join(joinedRequest);

  capture(id: string, exchange: CapturedExchange<Uint8Array>): void {
    this.#waitingRows.addCapture({ id, capturedAt: this.#now(), exchange });
  }

  flush(): void {
    this.#waitingRows.flush();
    this.refusals.flush();
    this.budgets.flush();
  }

  health(): LedgerHealthView {
    const replaced = this.#replaced && {
      movedTo: this.#replaced.movedTo,
      reason: this.#replaced.reason,
      budgetsAreLost: this.#budgetsAreLost,
    };
    const { problem: budgetsError } = this.budgets;
    return { ...this.#waitingRows.health, budgetsError, replaced, capturedBytes: this.#capturedBytes };
  }

  /** Undefined while the file cannot be read, since the views that contain it must not fail. */
  get #capturedBytes(): number | undefined {
    try {
      return this.#captureRoom.bytes || undefined;
    } catch (error) {
      if (isTemporary(error)) return undefined;
      throw error;
    }
  }

  async sweep(): Promise<number> {
    const deleted = await this.#retention.sweep(this.#settings());
    await this.#captureRoom.trim();
    await this.#days.rollUp(this.#now());
    return deleted;
  }

  async #sweepQuietly(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'old records cannot be deleted');
    }
  }

  /** Flushes pending rows first. Throws a GatewayError while the file cannot be read. */
  async #read<T>(read: (queries: LedgerQueries) => Promise<T> | T): Promise<T> {
    this.flush();
    try {
      return await read(this.#queries);
    } catch (error) {
      throw isTemporary(error) ? unreadable(error) : error;
    }
  }

  listRequests(filter: RequestFilter): Promise<RequestPage> {
    return this.#read((queries) => queries.listRequests(filter));
  }

  countRequests(filter: RequestConditions): Promise<RequestCount> {
    return this.#read((queries) => queries.countRequests(filter));
  }

  listNames(dimension: NameDimension): Promise<string[]> {
    return this.#read((queries) => queries.listNames(dimension));
  }

  listSessions(filter: SessionFilter): Promise<SessionPage> {
    return this.#read((queries) => queries.listSessions(filter));
  }

  getSession(id: string, reading?: SessionReading): Promise<SessionInFull | null> {
    return this.#read((queries) => queries.getSession(id, reading));
  }

  getRequest(id: string): Promise<RequestView | null> {
    return this.#read((queries) => queries.getRequest(id));
  }

  listClients(): Promise<ClientUseView[]> {
    return this.#read((queries) => queries.listClients());
  }

  listClientModels(sinceMs: number): Promise<ClientModelUse[]> {
    return this.#read((queries) => queries.listClientModels(sinceMs));
  }

  listUnpriced(): Promise<UnpricedUse[]> {
    return this.#read((queries) => queries.listUnpriced());
  }

  summarizeUsage(question: UsageQuery): Promise<UsageView[]> {
    return this.#read((queries) => queries.summarizeUsage(question));
  }

  usageOverTime(question: UsageOverTimeQuery): Promise<UsageStepView[]> {
    return this.#read((queries) => queries.usageOverTime(question));
  }

  firstByteTimes(question: FirstByteQuery): Promise<FirstByteView> {
    return this.#read((queries) => queries.firstByteTimes(question));
  }

  /** Empty while the file cannot be read, since the views that contain it must not fail. */
  lastUsed(): Map<string, number> {
    this.flush();
    try {
      return this.#queries.lastUsed();
    } catch (error) {
      if (isTemporary(error)) return new Map();
      throw error;
    }
  }

  readCapture(request: RequestView): Promise<KeptCapture> {
    return this.#read((queries) => queries.readCapture(request));
  }

  #upToDate(history: LocalUsageHistory): LocalUsageHistory {
    return {
      spent: (scope, id, range) => {
        this.flush();
        return plus(history.spent(scope, id, range), this.#waitingRows.spent({ scope, id, range }));
      },
      requestsSince: (...question) => {
        this.flush();
        return history.requestsSince(...question);
      },
      forgetTotal: (scope, id) => {
        this.#setAside.forget(scope, id);
        history.forgetTotal(scope, id);
      },
    };
  }

  close(): void {
    for (const timer of [this.#firstSweep, this.#sweeps]) clearTimeout(timer);
    this.#retention.stop();
    this.#days.stop();
    this.#index.stop();
    this.#captureRoom.stop();
    this.#repair.stop();
    this.#waitingRows.close();
    this.refusals.close();
    this.budgets.close();
  }
}

// Bounds the captures in number of bytes: the oldest are deleted as soon as newer ones need their room. Runs beside
// the writer, in batches that delay no request. The file keeps its size; its free pages are used again.

/** A batch takes 1 to 3 ms, because captures are large. */
const capturesPerBatch = 10;

interface CaptureRoom {
  /** What all captures take, without the index of their words. Throws while the file cannot be read. */
  readonly bytes: number;
  /** To be called after a capture was written. */
  captureWritten(): void;
  /** Resolves when the captures are within their bound. */
  trim(): Promise<void>;
  stop(): void;
}

/** `maxBytes` is called on each use. The newest capture is kept even if it is larger alone. */
function createCaptureRoom(database: Database, maxBytes: () => number): CaptureRoom {
  const held = database.prepare("SELECT value FROM facts WHERE name = 'captured bytes'");
  const oldest = database.prepare(
    `SELECT seq, bytes FROM capture_sizes WHERE seq < (SELECT max(seq) FROM capture_sizes) ORDER BY seq LIMIT ${capturesPerBatch}`,
  );
  const remove = database.prepare('DELETE FROM captures WHERE seq <= ?');
  const heldBytes = () => number(held.get()?.value) ?? 0;
  let trimming: Promise<void> | null = null;
  let isStopped = false;

  /** False if nothing has to be deleted. */
  function removeOldest(): boolean {
    let excess = heldBytes() - maxBytes();
    let last: number | null = null;
    for (const { seq, bytes } of excess > 0 ? oldest.all() : []) {
      if (excess <= 0) break;
      last = Number(seq);
      excess -= Number(bytes);
    }
    return last !== null && remove.run(last).changes > 0;
  }

  async function work(): Promise<void> {
    while (!isStopped && removeOldest()) await setImmediate();
  }

  function trim(): Promise<void> {
    trimming ??= work().finally(() => {
      trimming = null;
    });
    return trimming;
  }

  return {
    get bytes() {
      return heldBytes();
    },
    // A failure of the disk is retried with the next capture or sweep.
    captureWritten: () => void trim().catch(() => {}),
    trim,
    stop() {
      isStopped = true;
    },
  };
}

// Which sessions are stopped, and how much of its budget each has used. Decides whether further requests are admitted.

export interface SessionStates {
  /**
   * Stops a session; `stoppedAt` null resumes it, with a new budget. False if there is no such session. Throws GatewayError
   * `storage_unavailable`.
   */
  setStopped(id: string, stoppedAt: number | null): MaybePromise<boolean>;
  /** The ids of stopped sessions; empty while the file cannot be read. */
  stopped(): string[];
  /** What a session has used of its budget, in US dollars; null while it cannot be read. Does not reject. */
  budgetUsedUsd(id: string): MaybePromise<number | null>;
  /** Calls the listener for each session that another replica stops or resumes; absent without other replicas. */
  onChange?(listener: (id: string, isStopped: boolean) => void): void;
}

/** `flush` writes pending rows. */
function createSessionStates(database: Database, flush: () => void): SessionStates {
  const readOr = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (isTemporary(error)) return otherwise;
      throw error;
    }
  };
  return {
    setStopped(id, stoppedAt) {
      flush();
      const resumed = stoppedAt === null ? ', resumed_usd = cost_usd' : '';
      try {
        const update = database.prepare(`UPDATE sessions SET stopped_at = ?${resumed} WHERE id = ?`);
        return update.run(stoppedAt, id).changes > 0;
      } catch (error) {
        throw isTemporary(error) ? unreadable(error) : error;
      }
    },
    stopped: () =>
      readOr(() => {
        const rows = database.prepare('SELECT id FROM sessions WHERE stopped_at IS NOT NULL').all();
        return rows.map((row) => text(row.id) ?? '');
      }, []),
    budgetUsedUsd(id) {
      flush();
      return readOr(() => {
        const row = database.prepare(`SELECT ${budgetUsed} AS usd FROM sessions WHERE id = ?`).get(id);
        return number(row?.usd) ?? 0;
      }, null);
    },
  };
}
