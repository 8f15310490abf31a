/** A person's own usage, or that of the groups they manage, by model, in the form in which the overview shows usage. */
import type { UsageStepView } from '../../../server/contract/request-views.ts';
import type { UsageAnswers } from '../../components/usage/load-usage.ts';
import { type CountedMetric, leadersOf, sumOf } from '../../components/usage/usage-figures.ts';
import { gridOf, type RangeName, type TimeGrid } from '../../components/usage/usage-range.ts';
import type { ControlStore } from '../../state/control/control-store.ts';

interface OwnUsage {
  range: RangeName;
  grid: TimeGrid;
  /** By model. */
  steps: UsageStepView[];
}

const maxSeries = 5;
const noTimes = { steps: [], named: [], medianMs: null, p95Ms: null };

/** `own`: usage of the person's own keys. `managed`: everything that the person may see. */
export type UsageScope = 'own' | 'managed';

export async function loadOwnUsage(
  query: ControlStore['query'],
  { range, scope }: { range: RangeName; scope: UsageScope },
  nowMs: number,
): Promise<OwnUsage> {
  const grid = gridOf(range, nowMs);
  const filter = scope === 'own' ? ({ own: true } as const) : {};
  const steps = await query<'usage-over-time'>({ type: 'usage-over-time', by: 'model', ...filter, ...grid });
  return { range, grid, steps };
}

/** Does not include times to the first byte. */
export function answersOf({ range, grid, steps }: OwnUsage, metric: CountedMetric): UsageAnswers {
  const ofModels = Map.groupBy(steps, ({ name }) => name);
  const ofTimes = Map.groupBy(steps, ({ startMs }) => startMs);
  const byName = [...ofModels].map(([name, ofName]) => ({ name, ...sumOf(ofName) }));
  return {
    ...{ range, grid, by: 'model', metric, byName, leaderSteps: steps },
    total: [...ofTimes].map(([startMs, ofStep]) => ({ startMs, name: null, ...sumOf(ofStep) })),
    leaders: leadersOf(byName, metric, maxSeries).map(({ name }) => name),
    ...{ firstByte: noTimes, firstByteByName: [], month: null },
  };
}
