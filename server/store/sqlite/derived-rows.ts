/** What is derived from the requests of a batch, and written in the same transaction: usage totals and sessions. */

import { setImmediate } from 'node:timers/promises';
import { type Countable, type Counting, countOf } from '../../contract/count.ts';
import {
  ownClient,
  type RequestRecord,
  type RequestSession,
  shadowAccount,
  type UsageDimension,
  usageDimensions,
} from '../../contract/ledger.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import { storableSession } from '../rules/storable-row.ts';
import { noSums, type Sums, sumColumns, sumValues, takeFrom } from '../rules/sums.ts';
import type { Database, Statement } from './database.ts';
import { blockRows, blocksDuring } from './request-names.ts';

// Usage totals by quarter of an hour and dimension. They are computed for a batch of requests and written in the same
// transaction, so that totals and requests always agree.
//
// A request is counted once, for the model and provider that answered. Usage and cost of each attempt are counted for the
// model and provider that it asked.

export const quartersPerDay = 96;

/** `quarter`: since 1970. */
interface Cell extends Sums {
  dimension: UsageDimension;
  quarter: number;
  name: string;
}

type Row = Countable & Pick<RequestRecord, 'startedAt'>;

/** Written out, because it runs five times for each request. PostgreSQL adds up `usageColumns`. */
function addTo(cell: Cell, { requests, isFailed, isRefused, usage, costUsd, isUnpriced }: Counting): void {
  cell.requests += requests;
  cell.failed += Number(isFailed);
  cell.refused += Number(isRefused);
  cell.unpricedRequests += Number(isUnpriced);
  cell.costUsd += costUsd ?? 0;
  if (usage === null) return;
  cell.inputTokens += usage.inputTokens ?? 0;
  cell.outputTokens += usage.outputTokens ?? 0;
  cell.cachedInputTokens += usage.cachedInputTokens ?? 0;
  cell.reasoningTokens += usage.reasoningTokens ?? 0;
  cell.seconds += usage.seconds ?? 0;
  cell.characters += usage.characters ?? 0;
  cell.images += usage.images ?? 0;
}

type Cells = Record<UsageDimension, Map<string, Cell>>;

/** Adds up finished requests. Those without a key, group, model or provider count under the empty name. */
export class UsageSums {
  readonly #quarters = new Map<number, Cells>();

  add(row: Row): void {
    const quarter = Math.floor(row.startedAt / quarterMs);
    const cells = this.#cellsOf(quarter);
    const { whole, parts } = countOf(row);
    addTo(cellOf(cells, 'day', quarter, ''), whole);
    const account = row.shadowOf === null ? null : shadowAccount(row.groupId);
    addTo(cellOf(cells, 'key', quarter, account ?? row.keyId), whole);
    addTo(cellOf(cells, 'group', quarter, account ?? row.groupId), whole);
    addParts(parts, ({ model }) => cellOf(cells, 'model', quarter, model));
    addParts(parts, ({ provider }) => cellOf(cells, 'provider', quarter, provider));
  }

  /** Subtracts a request that was added earlier, to these sums or to others. */
  takeBack(row: Row): void {
    const alone = new UsageSums();
    alone.add(row);
    for (const cell of alone.values()) {
      takeFrom(cellOf(this.#cellsOf(cell.quarter), cell.dimension, cell.quarter, cell.name), cell);
    }
  }

  #cellsOf(quarter: number): Cells {
    let cells = this.#quarters.get(quarter);
    if (cells === undefined) {
      cells = { day: new Map(), key: new Map(), group: new Map(), model: new Map(), provider: new Map() };
      this.#quarters.set(quarter, cells);
    }
    return cells;
  }

  values(): Iterable<Cell> {
    return [...this.#quarters.values()].flatMap((cells) =>
      Object.values(cells).flatMap((cellsByName) => [...cellsByName.values()]),
    );
  }
}

/** Unknown costs count once for each cell. */
function addParts(parts: readonly Counting[], cellOfPart: (part: Counting) => Cell): void {
  let unpriced: Set<Cell> | undefined;
  for (const part of parts) {
    const cell = cellOfPart(part);
    addTo(cell, part.isUnpriced && unpriced?.has(cell) ? { ...part, isUnpriced: false } : part);
    if (part.isUnpriced) unpriced = (unpriced ?? new Set()).add(cell);
  }
}

function cellOf(cells: Cells, dimension: UsageDimension, quarter: number, name: string | null): Cell {
  const cellsByName = cells[dimension];
  let cell = cellsByName.get(name ?? '');
  if (cell === undefined) {
    cell = { dimension, quarter, name: name ?? '', ...noSums };
    cellsByName.set(cell.name, cell);
  }
  return cell;
}

/** Returns a function that adds totals to the tables, to be called within a transaction. `isRolledUp`: see `UsageDays`. */
export function prepareSumsWriter(
  database: Database,
  isRolledUp: (dimension: UsageDimension, day: number) => boolean,
): (sums: UsageSums) => void {
  const toQuarter = prepareUpsert(database, 'usage_cells', 'quarter');
  const toDay = prepareUpsert(database, 'usage_days', 'day');
  const toTotal = database.prepare(
    `INSERT INTO usage_totals (dimension, name, tokens, cost_usd) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, cost_usd = cost_usd + excluded.cost_usd`,
  );
  return (sums) => {
    for (const cell of sums.values()) {
      const values = sumValues(cell);
      toQuarter.run(cell.dimension, cell.quarter, cell.name, ...values);
      const day = Math.floor(cell.quarter / quartersPerDay);
      if (isRolledUp(cell.dimension, day)) toDay.run(cell.dimension, day, cell.name, ...values);
      const tokens = cell.inputTokens + cell.outputTokens;
      const isTotalled = cell.dimension === 'key' || cell.dimension === 'group';
      if (isTotalled && tokens + cell.costUsd > 0) toTotal.run(cell.dimension, cell.name, tokens, cell.costUsd);
    }
  };
}

function prepareUpsert(database: Database, table: string, time: string): Statement {
  return database.prepare(
    `INSERT INTO ${table} (dimension, ${time}, name, ${sumColumns.join(', ')})
     VALUES (?, ?, ?, ${sumColumns.map(() => '?').join(', ')})
     ON CONFLICT DO UPDATE SET ${sumColumns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
  );
}

export interface UsageDays {
  /** Whether that day (counted from 1970) is in the table, so that new totals must be added there too. */
  isRolledUp(dimension: UsageDimension, day: number): boolean;
  /** Rolls up all past days, yielding to the event loop after each. */
  rollUp(now: number): Promise<void>;
  stop(): void;
}

/**
 * Totals of whole days in UTC, computed from the quarters once a day is over, so that a summary of months reads a hundredth
 * of the rows. All days up to a dimension's last one in the table are complete; requests that end later (after midnight) are
 * added to both tables by the writer.
 */
export function createUsageDays(database: Database): UsageDays {
  // Read lazily, since the file may not be readable yet, or may be replaced.
  let lastDays: Map<UsageDimension, number> | null = null;
  database.onReplaced(() => {
    lastDays = null;
  });
  const rolled = () => {
    lastDays ??= new Map(usageDimensions.map((dimension) => [dimension, lastRolledDay(database, dimension)]));
    return lastDays;
  };
  const addDay = database.prepare(
    `INSERT OR REPLACE INTO usage_days (dimension, day, name, ${sumColumns.join(', ')})
     SELECT dimension, ?, name, ${sumColumns.map((column) => `sum(${column})`).join(', ')}
     FROM usage_cells WHERE dimension = ? AND quarter >= ? AND quarter < ? GROUP BY name`,
  );
  const firstFrom = database.prepare(
    'SELECT min(quarter) AS quarter FROM usage_cells WHERE dimension = ? AND quarter >= ?',
  );
  let isStopped = false;

  async function rollUpDimension(dimension: UsageDimension, today: number): Promise<void> {
    while (!isStopped) {
      const next = (rolled().get(dimension) ?? -1) + 1;
      const quarter = firstFrom.get(dimension, next * quartersPerDay)?.quarter;
      const day = Math.floor(Number(quarter ?? Infinity) / quartersPerDay);
      if (day >= today) return;
      addDay.run(day, dimension, day * quartersPerDay, (day + 1) * quartersPerDay);
      rolled().set(dimension, day);
      await setImmediate();
    }
  }

  return {
    isRolledUp: (dimension, day) => day <= (rolled().get(dimension) ?? -1),
    async rollUp(now) {
      for (const dimension of usageDimensions) await rollUpDimension(dimension, Math.floor(now / dayMs));
    },
    stop() {
      isStopped = true;
    },
  };
}

/** -1 if there is none. */
export function lastRolledDay(database: Database, dimension: UsageDimension): number {
  const row = database.prepare('SELECT max(day) AS day FROM usage_days WHERE dimension = ?').get(dimension);
  return Number(row?.day ?? -1);
}

// Updates the table of sessions with the requests that are written.

interface Use {
  row: BegunRow | EndedRow;
  name: string | null;
  client: string | null;
  lastSeq: number;
  /** Of the requests that have ended. */
  costUsd: number;
}

/** The sessions of one batch: each is written once. */
export class SessionUses {
  readonly #uses = new Map<string, Use>();

  add(seq: number, row: BegunRow | EndedRow): void {
    if (row.session === null) return;
    const { id, name } = row.session;
    const client = 'client' in row && row.client !== ownClient ? row.client : null;
    const costUsd = ('costUsd' in row && row.costUsd) || 0;
    const existing = this.#uses.get(id);
    if (!existing) this.#uses.set(id, { row, name, client, lastSeq: seq, costUsd });
    else {
      existing.name = name ?? existing.name;
      existing.client = client ?? existing.client;
      existing.lastSeq = Math.max(existing.lastSeq, seq);
      existing.costUsd += costUsd;
    }
  }

  entries(): Iterable<[string, Use]> {
    return this.#uses;
  }
}

/** Returns a function to be called within the transaction that writes the requests. */
export function prepareSessionsWriter(database: Database): (uses: SessionUses) => void {
  const upsert = database.prepare(
    `INSERT INTO sessions (id, name, key_id, group_id, client, last_seq, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET
       name = coalesce(excluded.name, name), client = coalesce(excluded.client, client), last_seq = max(last_seq, excluded.last_seq),
       cost_usd = cost_usd + excluded.cost_usd`,
  );
  return (uses) => {
    for (const [id, { row, name, client, lastSeq, costUsd }] of uses.entries())
      upsert.run(id, name, row.keyId, row.groupId, client, lastSeq, costUsd);
  };
}

/** A request that was begun without its session. */
export interface JoinedRequest {
  requestId: string;
  /** It has ended already, so no later row adds its cost to the session. */
  hasEnded: boolean;
  /** Unix milliseconds. */
  startedAt: number;
  session: RequestSession;
}

/**
 * Returns a function that adds a recorded request to its session. False if it is not in the ledger. `running`: the rows of
 * running requests, by id; `alone`: the latest batches with rows that have no session.
 */
export function prepareJoiner(
  database: Database,
  { running, alone }: { running: ReadonlyMap<string, number>; alone: RecentBatches },
): (joined: JoinedRequest) => boolean {
  const ofSeq = database.prepare('SELECT seq, session FROM requests WHERE seq = ? AND id = ?');
  const find = database.prepare('SELECT seq, session FROM requests WHERE seq >= ? AND seq < ? AND id = ?');
  const join = database.prepare('UPDATE requests SET session = ?, thread = ?, step = ? WHERE seq = ?');
  const addCost = database.prepare(
    `INSERT INTO sessions (id, key_id, group_id, client, last_seq, cost_usd)
     SELECT session, key_id, group_id, client, seq, coalesce(cost_usd, 0) FROM requests WHERE seq = ?
     ON CONFLICT DO UPDATE SET
       last_seq = max(last_seq, excluded.last_seq), cost_usd = cost_usd + excluded.cost_usd`,
  );
  const found = (id: string, startedAt: number) => {
    for (const { firstSeq, lastSeq } of alone.at(startedAt)) {
      const row = find.get(firstSeq, lastSeq + 1, id);
      if (row) return row;
    }
    for (const block of blocksDuring(database, { sinceMs: startedAt, untilMs: startedAt })) {
      const row = find.get(block * blockRows, (block + 1) * blockRows, id);
      if (row) return row;
    }
    return undefined;
  };
  return ({ requestId, startedAt, session: givenSession, hasEnded }) => {
    const session = storableSession(givenSession);
    const known = running.get(requestId);
    const row = known === undefined ? found(requestId, startedAt) : ofSeq.get(known, requestId);
    if (!row) return false;
    if (row.session !== null) return true;
    const seq = Number(row.seq);
    database.transaction(() => {
      join.run(session.id, session.thread, session.step, seq);
      if (hasEnded) addCost.run(seq);
    });
    return true;
  };
}

/** The rows of a batch, and when the first and the last of their requests began. */
export interface Batch {
  firstSeq: number;
  lastSeq: number;
  sinceMs: number;
  untilMs: number;
}

/** Where little is asked, a batch is one row: as many as the beginnings of conversations that are remembered. */
const maxBatches = 4_096;

/** Which rows were written together, so that a recent row is found by its time without a look at a whole hour. */
export class RecentBatches {
  #batches: Batch[] = [];

  /** `current`: the batch so far, or null; returns it with one more row. */
  static extended(current: Batch | null, seq: number, startedAt: number): Batch {
    if (current === null) return { firstSeq: seq, lastSeq: seq, sinceMs: startedAt, untilMs: startedAt };
    current.firstSeq = Math.min(current.firstSeq, seq);
    current.lastSeq = Math.max(current.lastSeq, seq);
    current.sinceMs = Math.min(current.sinceMs, startedAt);
    current.untilMs = Math.max(current.untilMs, startedAt);
    return current;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    if (this.#batches.length >= 2 * maxBatches) this.#batches = this.#batches.slice(-maxBatches);
  }

  /** Those that may have a request that began at this time, newest first. */
  *at(startedAt: number): Generator<Batch, void, undefined> {
    for (let index = this.#batches.length - 1; index >= 0; index--) {
      const batch = this.#batches[index];
      if (batch && batch.sinceMs <= startedAt && startedAt <= batch.untilMs) yield batch;
    }
  }

  clear(): void {
    this.#batches = [];
  }
}
