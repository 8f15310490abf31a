import { useMemo } from 'react';
import { dayMs, hourMs } from '../../../server/contract/units.ts';
import { useQuery } from '../control/use-query.ts';
import { useNow } from '../window/use-now.ts';

const spanMs = 7 * dayMs;
const stepMs = hourMs;

/** The names of the models used in the last week, the most used first; null until known. */
export function useMostUsed(): readonly string[] | null {
  const untilMs = useNow((now) => Math.ceil(now / stepMs) * stepMs);
  const { answer, problem } = useQuery<'usage'>({ type: 'usage', by: 'model', sinceMs: untilMs - spanMs, untilMs });
  return useMemo(() => {
    if (!answer) return problem ? [] : null;
    const succeeded = answer.map(({ name, requests, errors }) => ({ name, count: requests - errors }));
    return succeeded
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count)
      .flatMap(({ name }) => (name ? [name] : []));
  }, [answer, problem]);
}
