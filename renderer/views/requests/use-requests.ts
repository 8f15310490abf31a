import { useEffect, useMemo, useRef, useState } from 'react';
import { asControlError, type ControlError } from '../../api.ts';
import type { LiveRequest } from '../../state/live-request.ts';
import { useControlState, useControlStore } from '../../state/use-control.ts';
import { isShown, type ShownFilter } from './request-filter.ts';
import { hasGap, joined, noPages, type Pages, withLatest } from './request-pages.ts';

const pageSize = 200;

export interface ShownRequests {
  /** Newest first; null until they are known. */
  requests: readonly LiveRequest[] | null;
  /** How many came since the list stands still. */
  waiting: number;
  /** There are older ones, or there may be. */
  hasMore: boolean;
  isLoading: boolean;
  problem: ControlError | null;
  loadMore(): void;
}

/** The requests of a filter, which stays the same for as long as its list is there. While `isHeld` no new one moves those that are there. */
export function useRequests(filter: ShownFilter, isHeld: boolean): ShownRequests {
  const store = useControlStore();
  const all = useControlState((state) => (state.views ? state.requests : null));
  const live = useMemo(() => all?.filter((request) => isShown(request, filter)) ?? null, [all, filter]);
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
  const nextPage = async ({ older, next, sinceMs }: Pages, known: readonly LiveRequest[]): Promise<Pages> => {
    const startMs = next === 'start' ? (known.at(-1)?.startedAt ?? Date.now()) : sinceMs;
    const where = next === 'start' || next === null ? {} : { before: next };
    const page = await store.query<'requests'>({
      type: 'requests',
      filter: { ...filter, untilMs: startMs + 1 },
      limit: pageSize,
      ...where,
    });
    return { older: [...older, ...page.requests], next: page.next, sinceMs: startMs };
  };
  return {
    requests: useMemo(() => shown && joined(shown, pages), [shown, pages]),
    waiting:
      held.current && live
        ? Math.max(
            0,
            live.findIndex(({ id }) => id === held.current?.[0]?.id),
          )
        : 0,
    hasMore: pages.next !== null,
    isLoading,
    problem,
    loadMore: () => void loadMore(),
  };
}
