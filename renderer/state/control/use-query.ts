import { useCallback, useEffect, useState } from 'react';
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { CooldownView } from '../../../server/contract/provider-views.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import { asControlError, type ControlError } from '../api/api.ts';
import { type ControlState, keepEqualParts } from './control-state.ts';
import { useControlState, useControlStore } from './use-control.ts';

export interface QueryState<T extends QueryType> {
  /** The last answer, kept while the query runs again; null before the first. */
  answer: QueryResults[T] | null;
  /** Why the last query failed; null if it did not. */
  problem: ControlError | null;
  isRunning: boolean;
  refetch(): void;
}

/**
 * Queries data that the store does not hold, again whenever the query or `version` (such as the configuration's revision)
 * changes. Null for no query now. Answers to outdated queries are dropped.
 */
export function useQuery<T extends QueryType>(
  query: (QueryInputMap[T] & { type: T }) | null,
  version: string | number | null = null,
): QueryState<T> {
  const store = useControlStore();
  const [state, setState] = useState<Omit<QueryState<T>, 'refetch'>>({ answer: null, problem: null, isRunning: false });
  const [refetchCount, setRefetchCount] = useState(0);
  const reloadCount = useControlState((state) => state.reloadCount);
  // Compared as text, because the query is a new object on each render.
  const question = JSON.stringify([query, version, refetchCount, reloadCount]);
  useEffect(() => {
    const [parsedQuery] = JSON.parse(question) as [typeof query, typeof version, number, number];
    if (!parsedQuery) {
      setState((old) => (old.isRunning ? { ...old, isRunning: false } : old));
      return;
    }
    let isNewest = true;
    const settle = (result: Partial<Omit<QueryState<T>, 'refetch'>>) => {
      if (!isNewest) return;
      setState((old) => ({ ...old, ...keepEqualParts({ answer: old.answer }, result), isRunning: false }));
    };
    setState((old) => ({ ...old, isRunning: true }));
    store.query<T>(parsedQuery).then(
      (answer) => settle({ answer, problem: null }),
      (error: unknown) => settle({ problem: asControlError(error) }),
    );
    return () => {
      isNewest = false;
    };
  }, [store, question]);
  const isUnanswered = state.problem?.code === 'unanswered';
  const isOpen = useControlState(({ connection }) => connection === 'open');
  useEffect(() => {
    if (isUnanswered && isOpen) setRefetchCount((count) => count + 1);
  }, [isUnanswered, isOpen]);
  const refetch = useCallback(() => setRefetchCount((count) => count + 1), []);
  return { ...state, refetch };
}

interface LiveQueryState<Answer> {
  /** The last answer, kept while the next one is loading; null before the first. */
  answer: Answer | null;
  /** Why the last call of `load` failed; null if it did not. */
  problem: ControlError | null;
}

/** Long enough to combine a burst of requests into one reload. */
const pauseMs = 500;
/** Reloads at least this often, because results also change with time. */
const longestPauseMs = 60_000;

/**
 * Calls `load`, and again soon after the engine's events report that requests have ended. It never runs twice at the
 * same time or while the window is hidden. A new `load` starts over.
 *
 * @param alsoOnRequestStart also reload soon after requests have begun
 */
export function useLiveQuery<Answer>(load: () => Promise<Answer>, alsoOnRequestStart = false): LiveQueryState<Answer> {
  const store = useControlStore();
  const [state, setState] = useState<LiveQueryState<Answer>>({ answer: null, problem: null });
  useEffect(() => {
    let isStopped = false;
    let isRunning = false;
    /** Something has changed since the last call of `load`. */
    let isDue = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** A value that changes whenever the answer may have changed. */
    const versionOf = ({ endedCount, requests }: ControlState) => (alsoOnRequestStart ? requests : endedCount);
    let lastVersion = versionOf(store.state());
    const reload = async () => {
      timer = undefined;
      isRunning = true;
      isDue = false;
      const next = await load().then(
        (answer) => ({ answer, problem: null }),
        (error: unknown) => ({ problem: asControlError(error) }),
      );
      isRunning = false;
      if (isStopped) return;
      setState((old) => ({ ...old, ...next }));
      if (isDue) scheduleReload();
    };
    const scheduleReload = () => {
      isDue = true;
      // A running timer is not restarted, or a steady stream of requests would delay the reload forever.
      if (!isRunning && !document.hidden) timer ??= setTimeout(reload, pauseMs);
    };
    const stopListening = store.subscribe(() => {
      const now = versionOf(store.state());
      if (now === lastVersion) return;
      lastVersion = now;
      scheduleReload();
    });
    const interval = setInterval(scheduleReload, longestPauseMs);
    document.addEventListener('visibilitychange', scheduleReload);
    void reload();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(interval);
      stopListening();
      document.removeEventListener('visibilitychange', scheduleReload);
    };
  }, [store, load, alsoOnRequestStart]);
  return state;
}

type ConfigState = { views: Pick<ConfigViews, 'providers' | 'status'> | null };

/** Changes whenever the answer may have changed. For the models of a key or group, which depend on the configuration and on what each provider lists. */
export function modelListVersion({ views }: ConfigState): string {
  return views ? [views.status.revision, ...views.providers.map(({ discovery }) => discovery?.refreshedAt)].join() : '';
}

/** For the routes of models, which also depend on the health of each provider. */
export function modelRouteVersion(state: ConfigState): string {
  const health = state.views?.providers.flatMap(({ health }) => [health, ...health.models].map(troubleOf)) ?? [];
  return [modelListVersion(state), ...health].join();
}

function troubleOf({ model, state, failure, until }: Partial<{ model: string | null }> & CooldownView): string {
  return `${model} ${state} ${failure} ${until}`;
}
