import { useCallback, useEffect, useState } from 'react';
import type { QueryInputMap, QueryResults, QueryType } from '../../server/contract/queries.ts';
import { asControlError, type ControlError } from '../api.ts';
import { useControlState, useControlStore } from './use-control.ts';

export interface Answered<T extends QueryType> {
  /** The last one; stays while it is asked again. Null: none yet. */
  answer: QueryResults[T] | null;
  /** Why the last question failed; null if it did not. */
  problem: ControlError | null;
  isRunning: boolean;
  askAgain(): void;
}

/**
 * Asks the engine what the store does not hold; again when the question or `asOf` (such as the configuration's revision)
 * changes. Null: nothing to ask now. What comes after a newer question was put is dropped.
 */
export function useQuery<T extends QueryType>(
  query: (QueryInputMap[T] & { type: T }) | null,
  asOf: string | number | null = null,
): Answered<T> {
  const store = useControlStore();
  const [state, setState] = useState<Omit<Answered<T>, 'askAgain'>>({ answer: null, problem: null, isRunning: false });
  const [round, setRound] = useState(0);
  // As a text, since the query is another object each time.
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
