/** Usage totals: their columns, and their addition. */
import type { UsageTotals } from '../../contract/ledger.ts';
import { number, type Row } from './columns.ts';

/** `costUsd` is the sum of the known costs. */
export type Sums = Omit<UsageTotals, 'costUsd'> & { costUsd: number };

/** The amounts of a request's or attempt's usage, and their columns. */
export const usageColumns = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cachedInputTokens', 'cached_input_tokens'],
  ['reasoningTokens', 'reasoning_tokens'],
  ['seconds', 'seconds'],
  ['characters', 'characters'],
  ['images', 'images'],
] as const satisfies readonly (readonly [keyof Sums, string])[];

const columns = [
  ['requests', 'requests'],
  ['errors', 'errors'],
  ['refused', 'refused'],
  ...usageColumns,
  ['costUsd', 'cost_usd'],
  ['unpricedRequests', 'unpriced_requests'],
] as const satisfies readonly (readonly [keyof Sums, string])[];

export const sumColumns = columns.map(([, column]) => column);

export const noSums: Readonly<Sums> = {
  requests: 0,
  errors: 0,
  refused: 0,
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

/** Adds them up. */
export const summedColumns = sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** In the order of `sumColumns`. */
export function sumValues(sums: Readonly<Sums>): number[] {
  return columns.map(([name]) => sums[name]);
}

/** Missing columns count as 0. */
export function readSums(row: Row): Sums {
  const sums = { ...noSums };
  for (const [name, column] of columns) sums[name] = number(row[column]) ?? 0;
  return sums;
}

export function addInto(sums: Sums, more: Readonly<Sums>): void {
  for (const [name] of columns) sums[name] += more[name];
}

export function takeFrom(sums: Sums, less: Readonly<Sums>): void {
  for (const [name] of columns) sums[name] -= less[name];
}

/** The cost for display; null, not 0, if no cost is known. */
export function displayedCost({ costUsd, unpricedRequests }: Readonly<Sums>): number | null {
  return costUsd === 0 && unpricedRequests > 0 ? null : costUsd;
}
