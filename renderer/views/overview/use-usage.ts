import type { QueryInputMap, QueryResults } from '../../../server/contract/queries.ts';
import type { ControlError } from '../../api.ts';
import { useNow } from '../../components/use-now.ts';
import { useQuery } from '../../state/use-query.ts';
import { type CountedMetric, type FirstByteFigure, leadersOf } from './usage-figures.ts';
import { gridOf, type RangeName, refreshMs, type TimeGrid } from './usage-range.ts';

export type Dimension = Exclude<QueryInputMap['usage']['by'], 'day'>;

const mostSeries = 5;

export interface UsageAnswers {
  grid: TimeGrid;
  /** The sums by name, the dearest first. Each is null until it is known. */
  byName: QueryResults['usage'] | null;
  total: QueryResults['usage-over-time'] | null;
  /** Those that the chart tells apart. */
  leaders: (string | null)[];
  named: QueryResults['usage-over-time'] | null;
  firstByte: QueryResults['first-byte-times'] | null;
  /** Of the leaders, if they are asked for. */
  firstByteByName: QueryResults['first-byte-times']['named'] | null;
  problem: ControlError | null;
}

interface UsageQuestion {
  range: RangeName;
  by: Dimension;
  metric: CountedMetric;
  figure: FirstByteFigure;
}

/** All that the overview tells of a time; asked anew every few seconds. */
export function useUsage({ range, by, metric, figure }: UsageQuestion): UsageAnswers {
  const nowMs = useNow((now) => Math.ceil(now / refreshMs) * refreshMs);
  const grid = gridOf(range, nowMs);
  const { sinceMs, untilMs } = grid;
  const byName = useQuery<'usage'>({ type: 'usage', by, sinceMs, untilMs });
  const total = useQuery<'usage-over-time'>({ type: 'usage-over-time', by: 'day', ...grid });
  const firstByte = useQuery<'first-byte-times'>({ type: 'first-byte-times', ...grid });
  const leaders = leadersOf(byName.answer ?? [], metric, mostSeries).map(({ name }) => name);
  const names = leaders.map((name) => name ?? '');
  const named = useQuery<'usage-over-time'>(
    byName.answer && names.length > 0 ? { type: 'usage-over-time', by, names, ...grid } : null,
  );
  const namedFirstByte = useQuery<'first-byte-times'>(
    figure !== 'together' && names.length > 0 ? { type: 'first-byte-times', by, names, ...grid } : null,
  );
  return {
    grid,
    byName: byName.answer,
    total: total.answer,
    leaders,
    named: names.length > 0 ? named.answer : [],
    firstByte: firstByte.answer,
    firstByteByName: namedFirstByte.answer?.named ?? null,
    problem: byName.problem ?? total.problem ?? named.problem ?? firstByte.problem ?? namedFirstByte.problem,
  };
}
