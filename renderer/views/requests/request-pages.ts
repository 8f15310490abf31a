/** The live list and the older pages under it, as one list. Pure. */
import type { LiveRequest } from '../../state/live-request.ts';

export interface Pages {
  /** Newest first, all older than or as old as what was live when the first was asked for. */
  older: readonly LiveRequest[];
  /** Where the next page begins; null if there is none. `start`: none was asked for yet. */
  next: number | null | 'start';
  /** When the oldest live request began as the first page was asked for. */
  sinceMs: number;
  /** Of a sorted list: how many requests were sorted, if not all. */
  sortedOf: number | null;
}

export const noPages: Pages = { older: [], next: 'start', sinceMs: 0, sortedOf: null };

/** No request stands twice: what is live is what is newest. */
export function joined(live: readonly LiveRequest[], { older }: Pages): readonly LiveRequest[] {
  if (older.length === 0) return live;
  const known = new Set(live.map(({ id }) => id));
  return [...live, ...older.filter(({ id }) => !known.has(id))];
}

/** Requests have left the live list that stand on no page. */
export function hasGap(live: readonly LiveRequest[], { next, sinceMs }: Pages): boolean {
  const oldest = live.at(-1);
  return next !== 'start' && oldest !== undefined && oldest.startedAt > sinceMs;
}

/** What stood still while a person reads, each request as it is now. */
export function withLatest(held: readonly LiveRequest[], live: readonly LiveRequest[]): readonly LiveRequest[] {
  const latest = new Map(live.map((request) => [request.id, request]));
  return held.map((request) => (request.outcome === null ? (latest.get(request.id) ?? request) : request));
}
