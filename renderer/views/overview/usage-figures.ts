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
  'requests' | 'errors' | 'inputTokens' | 'outputTokens' | 'costUsd' | 'unpricedRequests'
>;

export function amountOf(counted: Counted, metric: CountedMetric): number {
  switch (metric) {
    case 'requests':
      return counted.requests;
    case 'tokens':
      return counted.inputTokens + counted.outputTokens;
    case 'cost':
      return counted.costUsd ?? 0;
    case 'errors':
      return counted.errors;
  }
}

export function sumOf(steps: readonly Counted[]): Counted {
  const sum = { requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedRequests: 0 };
  for (const step of steps) {
    sum.requests += step.requests;
    sum.errors += step.errors;
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

/** A step of the chart: a number for each series, `s0`, `s1` … in the order of the names, and what is left for `others`. */
export type ChartRow = { startMs: number; others: number } & Record<`s${number}`, number>;

/** A step of a chart of lines; null where a line has nothing to tell. */
export type LineRow = { startMs: number } & Record<`s${number}`, number | null>;

/** A line for each series, which has its values by the step's beginning. */
export function lineRows(steps: readonly number[], series: readonly ReadonlyMap<number, number>[]): LineRow[] {
  return steps.map((startMs) => ({
    startMs,
    ...Object.fromEntries(series.map((values, at) => [`s${at}`, values.get(startMs) ?? null])),
  }));
}

/** The share of requests that failed, by the step's beginning. */
export function errorRates(steps: readonly UsageStepView[]): Map<number, number> {
  return new Map(
    steps.filter(({ requests }) => requests > 0).map((step) => [step.startMs, step.errors / step.requests]),
  );
}

interface ChartQuestion {
  steps: readonly number[];
  names: readonly (string | null)[];
  metric: CountedMetric;
  /** By name. */
  named: readonly UsageStepView[];
  /** All together. */
  total: readonly UsageStepView[];
}

export function chartRows({ steps, names, metric, named, total }: ChartQuestion): ChartRow[] {
  const rows = new Map<number, ChartRow>(
    steps.map((startMs) => [
      startMs,
      { startMs, others: 0, ...Object.fromEntries(names.map((_, at) => [`s${at}`, 0])) },
    ]),
  );
  for (const step of total) {
    const row = rows.get(step.startMs);
    if (row) row.others = amountOf(step, metric);
  }
  for (const step of named) {
    const row = rows.get(step.startMs);
    const at = names.indexOf(step.name);
    if (!row || at === -1) continue;
    row[`s${at}`] = amountOf(step, metric);
    // Costs are fractions: what is left of them may be a little less than nothing.
    row.others = Math.max(0, row.others - amountOf(step, metric));
  }
  return [...rows.values()];
}
