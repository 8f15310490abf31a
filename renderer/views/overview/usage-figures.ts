/** What the overview counts, and how the engine's steps become rows of a chart. Pure. */
import type { UsageStepView } from '../../../server/contract/request-views.ts';
import type { Messages } from '../../messages/en.ts';

export type Metric = keyof Messages['overview']['metrics'];
export type CountedMetric = Exclude<Metric, 'firstByte'>;
/** Of the time to the first byte: both figures of all requests, or one of them by name. */
export type FirstByteFigure = keyof Messages['overview']['firstByteFigures'];

export const firstByteFigures: readonly FirstByteFigure[] = ['together', 'median', 'p95'];

type Counted = Pick<
  UsageStepView,
  'requests' | 'errors' | 'refused' | 'inputTokens' | 'outputTokens' | 'costUsd' | 'unpricedRequests'
>;

/** The sum of a model, provider, key or group; null: of requests that had none. */
export type NamedCounted = Counted & Pick<UsageStepView, 'name'>;

export function amountOf(counted: Counted, metric: CountedMetric): number {
  switch (metric) {
    case 'requests':
      return counted.requests;
    case 'tokens':
      return counted.inputTokens + counted.outputTokens;
    case 'cost':
      return counted.costUsd ?? 0;
    case 'errors':
      return failuresOf(counted);
  }
}

/** What providers failed, without the callers' mistakes. */
export function failuresOf({ errors, refused }: Pick<Counted, 'errors' | 'refused'>): number {
  return errors - refused;
}

/** Of what Sluice did not refuse; null where there was nothing. */
export function failureRate(counted: Pick<Counted, 'requests' | 'errors' | 'refused'>): number | null {
  const asked = counted.requests - counted.refused;
  return asked > 0 ? failuresOf(counted) / asked : null;
}

export function sumOf(steps: readonly Counted[]): Counted {
  const sum = { requests: 0, errors: 0, refused: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 };
  for (const step of steps) {
    sum.requests += step.requests;
    sum.errors += step.errors;
    sum.refused += step.refused;
    sum.inputTokens += step.inputTokens;
    sum.outputTokens += step.outputTokens;
    sum.unpricedRequests += step.unpricedRequests;
    sum.costUsd += step.costUsd ?? 0;
  }
  // As in the engine: that a cost is not known is not that there was none.
  return { ...sum, costUsd: sum.costUsd === 0 && sum.unpricedRequests > 0 ? null : sum.costUsd };
}

/** The names with the most of it, the most first. */
export function leadersOf<Named extends Counted>(
  named: readonly Named[],
  metric: CountedMetric,
  most: number,
): Named[] {
  return named
    .filter((each) => amountOf(each, metric) > 0)
    .toSorted((a, b) => amountOf(b, metric) - amountOf(a, metric))
    .slice(0, most);
}

/** The values of a series, one for each step; null where nothing is known. */
export function valuesAt(steps: readonly number[], values: ReadonlyMap<number, number>): (number | null)[] {
  return steps.map((startMs) => values.get(startMs) ?? null);
}

/** The share of requests that providers failed, by the step's beginning. */
export function failureRates(steps: readonly UsageStepView[]): Map<number, number> {
  return new Map(
    steps.flatMap((step) => {
      const rate = failureRate(step);
      return rate === null ? [] : [[step.startMs, rate] as const];
    }),
  );
}

export function amounts(steps: readonly UsageStepView[], metric: CountedMetric): Map<number, number> {
  return new Map(steps.map((step) => [step.startMs, amountOf(step, metric)]));
}

/** What is left of the total when the named series are taken from it. */
export function othersOf(
  total: readonly (number | null)[],
  named: readonly (readonly (number | null)[])[],
): (number | null)[] {
  return total.map((whole, at) => {
    const rest = (whole ?? 0) - named.reduce((sum, values) => sum + (values[at] ?? 0), 0);
    // Costs are fractions: what is left of them may be a little more or less than nothing.
    return rest > 1e-9 ? rest : 0;
  });
}
