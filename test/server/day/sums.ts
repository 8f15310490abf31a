/**
 * What a day's rows add up to, counted here in the plainest way, and the differences of what others say of it.
 */

import { isUnpriced, isUnpricedAttempt } from '../../../server/contract/count.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';

export type Sums = Record<
  | 'requests'
  | 'errors'
  | 'refused'
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedInputTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'seconds'
  | 'characters'
  | 'images'
  | 'costUsd'
  | 'unpricedRequests',
  number
>;

/** One of several parts of a request counts its usage only, at its own target. */
type Part = Pick<RequestView, 'usage' | 'costUsd'> & {
  model: string | null;
  provider: string | null;
  /** Null in the parts that do not count as the request. */
  row: RequestView | null;
  /** Of the request that it is a part of. */
  id: string;
  isUnpriced: boolean;
};

export function partsOf(row: RequestView): Part[] {
  const { usage, costUsd, attempts, provider, modelAsked } = row;
  const answering = { row, id: row.id, provider, model: row.modelServed ?? modelAsked };
  if (attempts.length < 2) return [{ ...answering, usage, costUsd, isUnpriced: isUnpriced(row) }];
  return [
    { ...answering, usage: null, costUsd: 0, isUnpriced: false },
    ...attempts.map((attempt) => ({
      ...{ row: null, id: row.id, provider: attempt.provider, model: attempt.model ?? modelAsked },
      ...{ usage: attempt.usage, costUsd: attempt.costUsd, isUnpriced: isUnpricedAttempt(attempt) },
    })),
  ];
}

/** A provider, Sluice or a break let it down; not the client itself, nor a fault that it asked for. */
const hasFailed = ({ outcome, fault }: RequestView) =>
  fault === null && (outcome === 'error' || outcome === 'stream-broken' || outcome === 'interrupted');
const isRefused = (row: RequestView) =>
  hasFailed(row) && row.outcome === 'error' && row.provider === null && row.status !== null && row.status < 500;

export function sumOf(parts: readonly Part[]): Sums {
  const total = (read: (part: Part) => number | null | undefined) =>
    parts.reduce((sum, part) => sum + (read(part) ?? 0), 0);
  return {
    requests: total(({ row }) => Number(row !== null)),
    errors: total(({ row }) => Number(row !== null && hasFailed(row))),
    refused: total(({ row }) => Number(row !== null && isRefused(row))),
    inputTokens: total(({ usage }) => usage?.inputTokens),
    outputTokens: total(({ usage }) => usage?.outputTokens),
    cachedInputTokens: total(({ usage }) => usage?.cachedInputTokens),
    cacheWriteTokens: total(({ usage }) => usage?.cacheWriteTokens),
    reasoningTokens: total(({ usage }) => usage?.reasoningTokens),
    seconds: total(({ usage }) => usage?.seconds),
    characters: total(({ usage }) => usage?.characters),
    images: total(({ usage }) => usage?.images),
    costUsd: total(({ costUsd }) => costUsd),
    unpricedRequests: unpricedIn(parts),
  };
}

/** A request whose target was asked twice is one request of unknown cost. */
export const unpricedIn = (parts: readonly Part[]) =>
  new Set(parts.filter(({ isUnpriced }) => isUnpriced).map(({ id }) => id)).size;

export const sumOfRows = (rows: readonly RequestView[]) =>
  sumOf(
    rows.map((row) => ({
      row,
      id: row.id,
      usage: row.usage,
      costUsd: row.costUsd,
      isUnpriced: isUnpriced(row),
      model: null,
      provider: null,
    })),
  );

export function sumsBy<T extends Part | RequestView>(
  items: readonly T[],
  nameOf: (item: T) => string | null,
  sum: (items: readonly T[]) => Sums,
): Map<string, Sums> {
  const groups = Map.groupBy(items, (item) => nameOf(item) ?? '');
  return new Map([...groups].map(([name, some]) => [name, sum(some)]));
}

/** The sum of doubles depends on their order in its last digits: an amount counts to a billionth. */
const toBillionth = (value: number) => Math.round(value * 1e9) / 1e9;

/** Collects the figures in which someone differs from the rows. */
export class Differences {
  readonly found: string[] = [];
  /** The number of figures compared. */
  compared = 0;

  expect(place: string, told: unknown, counted: unknown): void {
    this.compared += 1;
    const [one, other] = [told, counted].map((value) => (typeof value === 'number' ? toBillionth(value) : value));
    if (!Object.is(one, other)) this.found.push(`${place}: ${String(one)}, but the rows say ${String(other)}`);
  }

  /** Compares the figures that `told` has. An unknown cost is null, not 0. */
  expectSums(place: string, told: Partial<Record<keyof Sums, number | null>>, counted: Sums): void {
    for (const name of Object.keys(counted) as (keyof Sums)[]) {
      if (!(name in told)) continue;
      const isUnknown = name === 'costUsd' && counted.costUsd === 0 && counted.unpricedRequests > 0;
      this.expect(`${place}, ${name}`, told[name], isUnknown ? null : counted[name]);
    }
  }

  /** Compares named sums, of which neither side may have one that the other lacks. */
  expectNamed(
    place: string,
    told: readonly ({ name: string | null } & Partial<Record<keyof Sums, number | null>>)[],
    counted: ReadonlyMap<string, Sums>,
  ): void {
    const names = (list: Iterable<string>) => [...list].toSorted().join(', ');
    this.expect(`the names in ${place}`, names(told.map(({ name }) => name ?? '')), names(counted.keys()));
    for (const each of told) {
      const sums = counted.get(each.name ?? '');
      if (sums) this.expectSums(`${place} ${each.name}`, each, sums);
    }
  }
}
