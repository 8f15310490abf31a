import { useSearchParams } from 'wouter';
import type { Dimension } from '../../components/usage/load-usage.ts';
import { type FirstByteFigure, firstByteFigures, type Metric } from '../../components/usage/usage-figures.ts';
import { type RangeName, rangeNames } from '../../components/usage/usage-range.ts';

interface Chosen {
  /** Null for the range that fits the data. */
  range: RangeName | null;
  by: Dimension;
  metric: Metric;
  figure: FirstByteFigure;
}

export interface OverviewChoice extends Chosen {
  choose(changes: Partial<Chosen>): void;
}

const dimensions: readonly Dimension[] = ['model', 'provider', 'key', 'group'];
const metrics: readonly Metric[] = ['requests', 'tokens', 'cost', 'errors', 'firstByte'];

/** The chosen view of the usage. It is part of the address, so that it survives a reload and can be bookmarked. */
export function useOverviewChoice(): OverviewChoice {
  const [search, setSearch] = useSearchParams();
  return {
    range: oneOf(rangeNames, search.get('range')) ?? null,
    by: oneOf(dimensions, search.get('by')) ?? 'model',
    metric: oneOf(metrics, search.get('metric')) ?? 'requests',
    figure: oneOf(firstByteFigures, search.get('figure')) ?? 'together',
    choose: ({ range, ...changes }) =>
      setSearch((old) => ({ ...Object.fromEntries(old), ...(range && { range }), ...changes }), { replace: true }),
  };
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}
