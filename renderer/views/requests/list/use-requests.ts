import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { fitsFilter } from '../../../../server/contract/request-filter.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { isLive, queryOf, type ShownFilter, sortQueryOf } from '../../../state/requests/request-filter.ts';
import { hasGap, joinPages, noPages, type Pages, withLatest } from './request-pages.ts';

const pageSize = 200;
/** A sorted list has a single page, of at most this many. */
export const sortedSize = 500;

export interface ShownRequests {
  /** In the order of the filter; null until known. */
  requests: readonly LiveRequest[] | null;
  /** How many requests have arrived since the list was held. */
  waiting: number;
  /** Whether there are, or may be, older requests. */
  hasMore: boolean;
  /** The number of newest requests that were sorted; null if all were. */
  sortedOf: number | null;
  /** Per cent of the search that is repaired; null: all of it. */
  repairedPercent: number | null;
  isLoading: boolean;
  problem: ControlError | null;
  loadMore(): void;
  /** Queries the list again. */
  reload(): void;
  /** Adds the requests that have arrived since the list was held, which stays held. */
  showWaiting(): void;
}

const none: readonly LiveRequest[] = [];

/**
 * The requests that match a filter, which must not change while the list is mounted. While `isFrozen`, new requests do
 * not move the others.
 */
export function useRequests(filter: ShownFilter, isFrozen: boolean): ShownRequests {
  const store = useControlStore();
  const isFollowing = isLive(filter);
  const [query] = useState(() => queryOf(filter, Date.now()));
  const liveList = useControlState((state) => (state.views ? state.requests : null));
  const all = isFollowing ? liveList : liveList && none;
  const live = useMemo(() => all?.filter((request) => fitsFilter(request, query)) ?? null, [all, query]);
  const frozen = useRef<readonly LiveRequest[] | null>(null);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  if (!isFrozen) frozen.current = null;
  else frozen.current ??= live;
  const shown = frozen.current && all ? withLatest(frozen.current, all) : live;

  const [pages, setPages] = useState<Pages>(noPages);
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const hasMissingRows = shown !== null && hasGap(all ?? [], pages) && !isFrozen;
  useEffect(() => {
    if (hasMissingRows) setPages(noPages);
  }, [hasMissingRows]);
  const isOpen = useControlState(({ connection }) => connection === 'open');
  useEffect(() => {
    // Once the engine is back, the list loads on, which it does not while there is a problem.
    if (isOpen) setProblem((old) => (old?.code === 'unanswered' ? null : old));
  }, [isOpen]);

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
    const cursor = next === 'start' || next === null ? {} : { before: next };
    const page = await store.query<'requests'>({
      type: 'requests',
      filter: { ...query, untilMs: Math.min(startMs + 1, query.untilMs ?? Number.POSITIVE_INFINITY) },
      limit: filter.sort ? sortedSize : pageSize,
      ...sortQueryOf(filter),
      ...cursor,
    });
    const { requests, ...rest } = page;
    return { ...rest, older: [...older, ...requests], sinceMs: startMs };
  };
  return {
    requests: useMemo(() => shown && joinPages(shown, pages), [shown, pages]),
    waiting: frozen.current && live ? countBefore(frozen.current, live) : 0,
    hasMore: pages.next !== null,
    sortedOf: pages.sortedOf,
    repairedPercent: pages.repairedPercent,
    isLoading,
    problem,
    loadMore: () => void loadMore(),
    reload: useCallback(() => setPages(noPages), []),
    showWaiting() {
      frozen.current = null;
      redraw();
    },
  };
}

function countBefore([first]: readonly LiveRequest[], live: readonly LiveRequest[]): number {
  return Math.max(
    0,
    live.findIndex(({ id }) => id === first?.id),
  );
}
