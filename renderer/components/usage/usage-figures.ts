/** The metrics of the overview, and the conversion of the engine's steps to chart series. Pure. */
import type { MonthForecast } from '../../../server/contract/limits.ts';
import type { UsageStepView } from '../../../server/contract/request-views.ts';
import type { Messages } from '../../messages/en/en.ts';
import type { Localization } from '../../messages/use-messages.ts';

export type Metric = keyof Messages['overview']['metrics'];
export type CountedMetric = Exclude<Metric, 'firstByte'>;
/** For the time to the first byte: both figures of all requests, or one of them by name. */
export type FirstByteFigure = keyof Messages['overview']['firstByteFigures'];

export const firstByteFigures: readonly FirstByteFigure[] = ['together', 'median', 'p95'];

type Counted = Pick<
  UsageStepView,
  'requests' | 'failed' | 'refused' | 'inputTokens' | 'outputTokens' | 'costUsd' | 'unpricedRequests'
>;

/** The total of a model, provider, key or group; a null name is for requests without one. */
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
      return counted.failed;
  }
}

/** The requests that Sluice did not refuse, of which `failed` failed. */
export function admittedOf({ requests, refused }: Pick<Counted, 'requests' | 'refused'>): number {
  return requests - refused;
}

/** The failures relative to the admitted requests; null if there were none. */
export function failureRate(counted: Pick<Counted, 'requests' | 'failed' | 'refused'>): number | null {
  const admitted = admittedOf(counted);
  return admitted > 0 ? counted.failed / admitted : null;
}

export function sumOf(steps: readonly Counted[]): Counted {
  const sum = { requests: 0, failed: 0, refused: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 };
  for (const step of steps) {
    sum.requests += step.requests;
    sum.failed += step.failed;
    sum.refused += step.refused;
    sum.inputTokens += step.inputTokens;
    sum.outputTokens += step.outputTokens;
    sum.unpricedRequests += step.unpricedRequests;
    sum.costUsd += step.costUsd ?? 0;
  }
  // As in the engine: an unknown cost is not zero.
  return { ...sum, costUsd: sum.costUsd === 0 && sum.unpricedRequests > 0 ? null : sum.costUsd };
}

/** The names with the highest amounts, highest first. */
export function leadersOf<Named extends Counted>(
  rows: readonly Named[],
  metric: CountedMetric,
  limit: number,
): Named[] {
  return rows
    .filter((each) => amountOf(each, metric) > 0)
    .toSorted((a, b) => amountOf(b, metric) - amountOf(a, metric))
    .slice(0, limit);
}

/** The values of a series, one per step; null if unknown. */
export function valuesAt(steps: readonly number[], values: ReadonlyMap<number, number>): (number | null)[] {
  return steps.map((startMs) => values.get(startMs) ?? null);
}

/** The share of requests that failed at providers, by the start of the step. */
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

/** The total minus the named series. */
export function othersOf(
  total: readonly (number | null)[],
  series: readonly (readonly (number | null)[])[],
): (number | null)[] {
  return total.map((whole, at) => {
    const rest = (whole ?? 0) - series.reduce((sum, values) => sum + (values[at] ?? 0), 0);
    // Costs are floating-point numbers, so the remainder may differ slightly from zero.
    return rest > 1e-9 ? rest : 0;
  });
}

/** What this month has cost, and comes to. */
export function monthText(
  { costUsd, expectedUsd }: MonthForecast,
  { messages: { overview: names }, formats }: Localization,
): string {
  const soFar = formats.dollars(costUsd);
  return expectedUsd === null ? names.month(soFar) : names.monthForecast(soFar, formats.dollars(expectedUsd));
}

const roundSteps = [1, 2, 2.5, 5, 10];

/** The labels of the vertical axis: two to six round values from zero to the first at or above `max`. `isWhole`: only whole numbers. */
export function ticksUpTo(max: number, isWhole = false): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = isWhole ? Math.max(1, max / 4) : max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    (roundSteps.find((each) => each * power >= rough && !(isWhole && (each * power) % 1 !== 0)) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The interval of labels on the horizontal axis, in steps, at which labels of `labelWidth` pixels do not overlap. */
export function labelInterval(stepCount: number, width: number, labelWidth: number): number {
  const fitting = Math.max(1, Math.floor(width / labelWidth));
  return Math.max(1, Math.ceil(stepCount / fitting));
}
