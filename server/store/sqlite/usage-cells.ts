/**
 * Usage totals by quarter of an hour and dimension. They are computed for a batch of requests and written in the same
 * transaction, so that totals and requests always agree.
 *
 * A request is counted once, for the model and provider that answered. Usage and cost of each attempt are counted for the
 * model and provider that it asked.
 */
import { lostPurchaseCode } from '../../contract/errors.ts';
import {
  type AttemptRecord,
  type FailureClass,
  type RequestRecord,
  shadowAccount,
  type UsageDimension,
} from '../../contract/ledger.ts';
import { quarterMs } from '../../contract/units.ts';
import { noSums, type Sums, sumColumns, sumValues, takeFrom } from '../rules/sums.ts';
import type { Database, Statement } from './database.ts';

export const quartersPerDay = 96;

/** `quarter`: since 1970. */
interface Cell extends Sums {
  dimension: UsageDimension;
  quarter: number;
  name: string;
}

/** The fields that counting needs; an interrupted row has no others. */
type Countable = Pick<
  RequestRecord,
  | 'startedAt'
  | 'keyId'
  | 'groupId'
  | 'modelAsked'
  | 'modelServed'
  | 'provider'
  | 'method'
  | 'capability'
  | 'outcome'
  | 'errorCode'
  | 'status'
  | 'usage'
  | 'costUsd'
  | 'attempts'
  | 'fault'
  | 'shadowOf'
>;

/** A client's disconnect is not an error, nor is a fault that was switched on. */
const isError = (row: Countable) => row.outcome !== 'ok' && row.outcome !== 'client-gone' && row.fault === null;

/** The caller's mistake: Sluice refused it with a 4xx, and no provider was asked. */
const isRefused = ({ outcome, provider, status, fault }: Countable) =>
  outcome === 'error' && fault === null && provider === null && status !== null && status >= 400 && status < 500;

/** Whether the request may have cost something that is not known. */
export function isUnpriced(row: Countable): boolean {
  if (row.costUsd !== null) return row.attempts.length > 1 && row.attempts.some(isUnpricedAttempt);
  if (row.provider === null || row.capability === null) return false;
  // Requests about a job cost nothing, except the one that reports its usage.
  if (row.method !== 'POST' && row.usage === null) return false;
  return row.outcome !== 'error' || row.usage !== null || row.errorCode === lostPurchaseCode;
}

/** Failures after which the upstream may have billed something. */
const mayHaveCost: ReadonlySet<FailureClass> = new Set(['stream-broken', 'client-gone', 'lost']);

/** The same for an attempt; without an answer it costs nothing. */
export function isUnpricedAttempt({ costUsd, usage, failure }: AttemptRecord): boolean {
  if (costUsd !== null) return false;
  return usage !== null || failure === null || mayHaveCost.has(failure);
}

function addTo(cell: Cell, row: Countable): void {
  addRequest(cell, row);
  if (isUnpriced(row)) cell.unpricedRequests += 1;
  addUsage(cell, row);
}

function addRequest(cell: Cell, row: Countable): void {
  cell.requests += 1;
  if (isError(row)) cell.errors += 1;
  if (isRefused(row)) cell.refused += 1;
}

function addUsage(cell: Cell, { usage, costUsd }: Pick<Countable, 'usage' | 'costUsd'>): void {
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

  add(row: Countable): void {
    const quarter = Math.floor(row.startedAt / quarterMs);
    const cells = this.#cellsOf(quarter);
    addTo(cellOf(cells, 'day', quarter, ''), row);
    const account = row.shadowOf === null ? null : shadowAccount(row.groupId);
    addTo(cellOf(cells, 'key', quarter, account ?? row.keyId), row);
    addTo(cellOf(cells, 'group', quarter, account ?? row.groupId), row);
    const model = cellOf(cells, 'model', quarter, row.modelServed ?? row.modelAsked);
    const provider = cellOf(cells, 'provider', quarter, row.provider);
    if (row.attempts.length > 1) {
      addAttempts(row, model, (attempt) => cellOf(cells, 'model', quarter, attempt.model ?? row.modelAsked));
      addAttempts(row, provider, (attempt) => cellOf(cells, 'provider', quarter, attempt.provider));
    } else {
      addTo(model, row);
      addTo(provider, row);
    }
  }

  /** Subtracts a request that was added earlier, to these sums or to others. */
  takeBack(row: Countable): void {
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

/** Counts the request in `ownCell` and each attempt's usage in its own cell; unknown costs count once for each cell. */
function addAttempts(row: Countable, ownCell: Cell, cellOfAttempt: (attempt: AttemptRecord) => Cell): void {
  addRequest(ownCell, row);
  const unpriced = new Set<Cell>();
  for (const attempt of row.attempts) {
    const cell = cellOfAttempt(attempt);
    addUsage(cell, attempt);
    if (isUnpricedAttempt(attempt)) unpriced.add(cell);
  }
  for (const cell of unpriced) cell.unpricedRequests += 1;
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

/** Returns a function that adds totals to the tables, to be called within a transaction. `isRolledUp`: see `usage-days.ts`. */
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
