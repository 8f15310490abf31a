/** Combines the live list with the older pages below it. Pure. */
import type { LiveRequest } from '../../../state/requests/live-request.ts';

export interface Pages {
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
