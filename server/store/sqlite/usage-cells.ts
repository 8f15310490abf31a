/**
 * Usage totals by quarter of an hour and dimension. They are computed for a batch of requests and written in the same
 * transaction, so that totals and requests always agree.
 *
 * A request is counted once, for the model and provider that answered. Usage and cost of each attempt are counted for the
 * model and provider that it asked.
 */

import { setImmediate } from 'node:timers/promises';
import { type Countable, type Counting, countOf } from '../../contract/count.ts';
import { type RequestRecord, shadowAccount, type UsageDimension, usageDimensions } from '../../contract/ledger.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { noSums, type Sums, sumColumns, sumValues, takeFrom } from '../rules/sums.ts';
import type { Database, Statement } from './database.ts';

export const quartersPerDay = 96;

/** `quarter`: since 1970. */
interface Cell extends Sums {
  dimension: UsageDimension;
  quarter: number;
  name: string;
}

type Row = Countable & Pick<RequestRecord, 'startedAt'>;

/** Written out, because it runs five times for each request. PostgreSQL adds up `usageColumns`. */
function addTo(cell: Cell, { requests, isError, isRefused, usage, costUsd, isUnpriced }: Counting): void {
  cell.requests += requests;
  cell.errors += Number(isError);
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
