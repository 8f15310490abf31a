import { useMemo } from 'react';
import type { UsageView } from '../../../server/contract/request-views.ts';
import { dayMs, quarterMs } from '../../../server/contract/units.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { useNow } from '../../state/window/use-now.ts';

const days = 30;
const againMs = 10_000;

/** The usage of each of these keys in the last thirty days, by id; refreshed regularly. */
export function useKeyUsage(ids: string[]): ReadonlyMap<string, UsageView> {
  const asOf = useNow((now) => Math.floor(now / againMs));
  const sinceMs = useNow((now) => Math.floor(now / quarterMs) * quarterMs - days * dayMs);
  const { answer } = useQuery<'usage'>({ type: 'usage', by: 'key', names: ids, sinceMs }, asOf);
  return useMemo(() => new Map((answer ?? []).map((usage) => [usage.name ?? '', usage])), [answer]);
}
