/**
 * Sums of requests by quarter of an hour, for each dimension that a summary is asked by. They are added up in memory for
 * a whole batch and written in its transaction, so sums and requests always agree.
 */
import type { RequestRecord, UsageTotals } from '../contract/ledger.ts';
import type { Database } from '../database.ts';

export type Dimension = 'day' | 'key' | 'group' | 'model' | 'provider';

export const quarterMs = 15 * 60_000;

interface Cell extends UsageTotals {
  dimension: Dimension;
  quarter: number;
  name: string;
}

/** What a request counts for. `Pick`, since an interrupted row has nothing more. */
export type Countable = Pick<
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
  | 'usage'
  | 'costUsd'
>;

/** A client that hangs up is nobody's fault. */
const isError = (row: Countable) => row.outcome !== 'ok' && row.outcome !== 'client-gone';

/** Whether a provider may have charged for it though its cost is not known. */
function isUnpriced(row: Countable): boolean {
  if (row.costUsd !== null || row.provider === null || row.capability === null || row.method !== 'POST') return false;
  return row.outcome !== 'error' || row.usage !== null;
}

function emptyCell(dimension: Dimension, quarter: number, name: string): Cell {
  return {
    dimension,
    quarter,
    name,
    requests: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    seconds: 0,
    characters: 0,
    images: 0,
    costUsd: 0,
    unpricedRequests: 0,
  };
}

function addTo(cell: Cell, row: Countable): void {
  cell.requests += 1;
  if (isError(row)) cell.errors += 1;
  cell.costUsd += row.costUsd ?? 0;
  if (isUnpriced(row)) cell.unpricedRequests += 1;
  const usage = row.usage;
  if (usage === null) return;
  cell.inputTokens += usage.inputTokens ?? 0;
  cell.outputTokens += usage.outputTokens ?? 0;
  cell.cachedInputTokens += usage.cachedInputTokens ?? 0;
  cell.reasoningTokens += usage.reasoningTokens ?? 0;
  cell.seconds += usage.seconds ?? 0;
  cell.characters += usage.characters ?? 0;
  cell.images += usage.images ?? 0;
}

type Cells = Record<Dimension, Map<string, Cell>>;

/** Adds up finished requests. What has no key, group, model or provider counts under the empty name. */
export class UsageSums {
  readonly #quarters = new Map<number, Cells>();

  add(row: Countable): void {
    const quarter = Math.floor(row.startedAt / quarterMs);
    let cells = this.#quarters.get(quarter);
    if (cells === undefined) {
      cells = { day: new Map(), key: new Map(), group: new Map(), model: new Map(), provider: new Map() };
      this.#quarters.set(quarter, cells);
    }
    addTo(cellOf(cells, 'day', quarter, ''), row);
    addTo(cellOf(cells, 'key', quarter, row.keyId), row);
    addTo(cellOf(cells, 'group', quarter, row.groupId), row);
    addTo(cellOf(cells, 'model', quarter, row.modelServed ?? row.modelAsked), row);
    addTo(cellOf(cells, 'provider', quarter, row.provider), row);
  }

  values(): Iterable<Cell> {
    return [...this.#quarters.values()].flatMap((cells) =>
      Object.values(cells).flatMap((named) => [...named.values()]),
    );
  }
}

function cellOf(cells: Cells, dimension: Dimension, quarter: number, name: string | null): Cell {
  const named = cells[dimension];
  let cell = named.get(name ?? '');
  if (cell === undefined) {
    cell = emptyCell(dimension, quarter, name ?? '');
    named.set(cell.name, cell);
  }
  return cell;
}

const summed = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'seconds',
  'characters',
  'images',
  'cost_usd',
  'unpriced_requests',
];

/** Returns a function that adds sums to the table; to be called inside a transaction. */
export function prepareSumsWriter(database: Database): (sums: UsageSums) => void {
  const upsert = database.prepare(
    `INSERT INTO usage_cells (dimension, quarter, name, ${summed.join(', ')})
     VALUES (?, ?, ?, ${summed.map(() => '?').join(', ')})
     ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
  );
  return (sums) => {
    for (const cell of sums.values()) {
      upsert.run(
        cell.dimension,
        cell.quarter,
        cell.name,
        cell.requests,
        cell.errors,
        cell.inputTokens,
        cell.outputTokens,
        cell.cachedInputTokens,
        cell.reasoningTokens,
        cell.seconds,
        cell.characters,
        cell.images,
        cell.costUsd,
        cell.unpricedRequests,
      );
    }
  };
}
