import { useDebouncedValue } from '@mantine/hooks';
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { fitsFilter } from '../../../../server/contract/request-filter.ts';
import type { RequestText } from '../../../../server/contract/session-views.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import { useRequestTexts } from '../../../state/control/use-request-texts.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { isLive, queryOf, type ShownFilter, sortQueryOf } from '../../../state/requests/request-filter.ts';
import { useViewer } from '../../../state/rights/use-rights.ts';

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

/** The older pages below the live list. */
interface Pages {
  /** Newest first. None is newer than the oldest live request at the time of the first query. */
  older: readonly LiveRequest[];
  /** Where the next page starts; null if there is none. `start`: no page has been queried yet. */
  next: number | null | 'start';
  /** The start time of the oldest live request when the first page was queried. */
  sinceMs: number;
  /** In a sorted list, the number of requests that were sorted; null if all were. */
  sortedOf: number | null;
  /** Per cent of the search that was repaired when the last page was queried; null: all of it. */
  repairedPercent: number | null;
}

export const noPages: Pages = { older: [], next: 'start', sinceMs: 0, sortedOf: null, repairedPercent: null };

/** Without duplicates: live requests take precedence. */
export function joinPages(live: readonly LiveRequest[], { older }: Pages): readonly LiveRequest[] {
  if (older.length === 0) return live;
  const liveIds = new Set(live.map(({ id }) => id));
  return [...live, ...older.filter(({ id }) => !liveIds.has(id))];
}

/** Whether requests have dropped out of the live list that are on no page. */
export function hasGap(live: readonly LiveRequest[], { next, sinceMs }: Pages): boolean {
  const oldest = live.at(-1);
  return next !== 'start' && oldest !== undefined && oldest.startedAt > sinceMs;
}

/** The held list, with the current state of each request in it. */
export function withLatest(frozen: readonly LiveRequest[], live: readonly LiveRequest[]): readonly LiveRequest[] {
  const liveById = new Map(live.map((request) => [request.id, request]));
  return frozen.map((request) => (request.outcome === null ? (liveById.get(request.id) ?? request) : request));
}

/** The first rows are asked for at once; one that is only scrolled past is not. */
const restMs = 250;
/** So many of the newest requests may be in memory although they are not captured. */
const mostInMemory = 50;

/**
 * The first words of the captured requests in sight, by id: of a person's message, or the tool whose result is sent. None
 * where people sign in, since there each look at a capture is written down.
 */
export function useFirstWords(inSight: readonly LiveRequest[]): ReadonlyMap<string, string> {
  const { query } = useControlStore();
  const { isShared } = useViewer();
  const inMemorySince = useControlState(({ views, requests }) =>
    views?.status.recentCapture ? (requests[mostInMemory - 1]?.startedAt ?? 0) : Number.POSITIVE_INFINITY,
  );
  const isKept = ({ outcome, captured, startedAt }: LiveRequest) =>
    outcome !== null && (captured !== null || startedAt >= inMemorySince);
  const kept = isShared ? [] : inSight.filter(isKept);
  const [settled] = useDebouncedValue(kept.map(({ id }) => id).join(' '), restMs, { leading: true });
  const texts = useRequestTexts(query, settled.split(' '));
  return useMemo(() => new Map([...texts].map(([id, text]) => [id, firstWordsOf(text)])), [texts]);
}

/** Empty if it says nothing. */
function firstWordsOf({ prompt, calls: [call], opening }: RequestText): string {
  const ofTool = call && [call.name, call.argument].filter((part) => part !== null).join(' ');
  return prompt ?? ofTool ?? opening ?? '';
}
