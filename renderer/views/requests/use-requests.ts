import { useEffect, useMemo, useRef, useState } from 'react';
import { asControlError, type ControlError } from '../../api.ts';
import type { LiveRequest } from '../../state/live-request.ts';
import { useControlState, useControlStore } from '../../state/use-control.ts';
import { isLive, isShown, queryOf, type ShownFilter, sortQueryOf } from './request-filter.ts';
import { hasGap, joined, noPages, type Pages, withLatest } from './request-pages.ts';

const pageSize = 200;
/** A sorted list has one page. */
const sortedSize = 500;

export interface ShownRequests {
  /** In the order of the filter; null until they are known. */
  requests: readonly LiveRequest[] | null;
  /** How many came since the list stands still. */
  waiting: number;
  /** There are older ones, or there may be. */
  hasMore: boolean;
  /** How many of the newest were sorted, if not all. */
  sortedOf: number | null;
  isLoading: boolean;
  problem: ControlError | null;
  loadMore(): void;
}

const none: readonly LiveRequest[] = [];

/** The requests of a filter, which stays the same for as long as its list is there. While `isHeld` no new one moves those that are there. */
export function useRequests(filter: ShownFilter, isHeld: boolean): ShownRequests {
  const store = useControlStore();
  const follows = isLive(filter);
  const [query] = useState(() => queryOf(filter, Date.now()));
  const known = useControlState((state) => (state.views ? state.requests : null));
  const all = follows ? known : known && none;
  const live = useMemo(() => all?.filter((request) => isShown(request, query)) ?? null, [all, query]);
  const held = useRef<readonly LiveRequest[] | null>(null);
  if (!isHeld) held.current = null;
  else held.current ??= live;
  const shown = held.current && all ? withLatest(held.current, all) : live;

  const [pages, setPages] = useState<Pages>(noPages);
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const isTorn = shown !== null && hasGap(all ?? [], pages) && !isHeld;
  useEffect(() => {
    if (isTorn) setPages(noPages);
  }, [isTorn]);

  const loadMore = async () => {
    if (isLoading || pages.next === null || !all) return;
    setLoading(true);
    setProblem(null);
    try {
      setPages(await nextPage(pages, all));
    } catch (error) {
      setProblem(asControlError(error));
    } finally {
      setLoading(false);
    }
  };
  const nextPage = async ({ older, next, sinceMs }: Pages, newer: readonly LiveRequest[]): Promise<Pages> => {
    const startMs = next === 'start' ? (newer.at(-1)?.startedAt ?? Date.now()) : sinceMs;
    const where = next === 'start' || next === null ? {} : { before: next };
    const page = await store.query<'requests'>({
      type: 'requests',
      filter: { ...query, untilMs: Math.min(startMs + 1, query.untilMs ?? Number.POSITIVE_INFINITY) },
      limit: filter.sort ? sortedSize : pageSize,
      ...sortQueryOf(filter),
      ...where,
    });
    return { older: [...older, ...page.requests], next: page.next, sinceMs: startMs, sortedOf: page.sortedOf };
  };
  return {
    requests: useMemo(() => shown && joined(shown, pages), [shown, pages]),
    waiting: held.current && live ? waitingBefore(held.current, live) : 0,
    hasMore: pages.next !== null,
    sortedOf: pages.sortedOf,
    isLoading,
    problem,
    loadMore: () => void loadMore(),
  };
}

function waitingBefore([first]: readonly LiveRequest[], live: readonly LiveRequest[]): number {
  return Math.max(
    0,
    live.findIndex(({ id }) => id === first?.id),
  );
}
