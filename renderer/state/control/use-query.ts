import { useCallback, useEffect, useState } from 'react';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import { asControlError, type ControlError } from '../api/api.ts';
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
      if (isNewest) setState((old) => ({ ...old, ...result, isRunning: false }));
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
