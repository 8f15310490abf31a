import { useCallback, useEffect, useState } from 'react';
import type { QueryInputMap, QueryResults, QueryType } from '../../server/contract/queries.ts';
import { asControlError, type ControlError } from '../api.ts';
import { useControlState, useControlStore } from './use-control.ts';

export interface Answered<T extends QueryType> {
  /** The last answer, kept while the query runs again; null before the first. */
  answer: QueryResults[T] | null;
  /** Why the last query failed; null if it did not. */
  problem: ControlError | null;
  isRunning: boolean;
  askAgain(): void;
}

/**
 * Queries data that the store does not hold, again whenever the query or `asOf` (such as the configuration's revision)
 * changes. Null for no query now. Answers to outdated queries are dropped.
 */
export function useQuery<T extends QueryType>(
  query: (QueryInputMap[T] & { type: T }) | null,
  asOf: string | number | null = null,
): Answered<T> {
  const store = useControlStore();
  const [state, setState] = useState<Omit<Answered<T>, 'askAgain'>>({ answer: null, problem: null, isRunning: false });
  const [round, setRound] = useState(0);
  // Compared as text, because the query is a new object on each render.
  const question = JSON.stringify([query, asOf, round]);
  useEffect(() => {
    const [asked] = JSON.parse(question) as [typeof query, typeof asOf, number];
    if (!asked) {
      setState((old) => (old.isRunning ? { ...old, isRunning: false } : old));
      return;
    }
    let isNewest = true;
    const settle = (result: Partial<Omit<Answered<T>, 'askAgain'>>) => {
      if (isNewest) setState((old) => ({ ...old, ...result, isRunning: false }));
    };
    setState((old) => ({ ...old, isRunning: true }));
    store.query<T>(asked).then(
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
    if (isUnanswered && isOpen) setRound((count) => count + 1);
  }, [isUnanswered, isOpen]);
  const askAgain = useCallback(() => setRound((count) => count + 1), []);
  return { ...state, askAgain };
}
