import { useCallback, useState } from 'react';
import { loadUsage, type UsageQuestion } from '../../components/usage/load-usage.ts';
import type { RangeName } from '../../components/usage/usage-range.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery } from '../../state/control/use-query.ts';

/** The figures of the overview, updated live. A range chosen to fit the data stays until the screen is left. */
export function useUsage({ range, by, metric }: UsageQuestion) {
  const { query } = useControlStore();
  const [foundRange, setFoundRange] = useState<RangeName | null>(null);
  const load = useCallback(async () => {
    const answers = await loadUsage(query, { range: range ?? foundRange, by, metric }, Date.now());
    if (range === null && answers.total.length > 0) setFoundRange(answers.range);
    return answers;
  }, [query, range, foundRange, by, metric]);
  return useLiveQuery(load);
}
