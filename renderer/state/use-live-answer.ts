import { useEffect, useState } from 'react';
import { asControlError, type ControlError } from '../api.ts';
import type { ControlState } from './control-state.ts';
import { useControlStore } from './use-control.ts';

interface LiveAnswer<Answer> {
  /** The last one; stays while it is asked again. Null: none yet. */
  answer: Answer | null;
  /** Why the last question failed; null if it did not. */
  problem: ControlError | null;
}

/** Long enough that a burst of requests is one question. */
const pauseMs = 500;
/** Time moves on also where nobody asks anything. */
const longestPauseMs = 60_000;

/**
 * What `load` gives, asked again soon after requests have ended, as the engine's events tell: never twice at the same time, and
 * not while the window is hidden. Another `load` is another question.
 *
 * @param asRequestsBegin it is asked again soon after requests have begun, too
 */
export function useLiveAnswer<Answer>(load: () => Promise<Answer>, asRequestsBegin = false): LiveAnswer<Answer> {
  const store = useControlStore();
  const [state, setState] = useState<LiveAnswer<Answer>>({ answer: null, problem: null });
  useEffect(() => {
    let isOver = false;
    let isRunning = false;
    /** Something has changed since the last question was put. */
    let isDue = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** Another value whenever the answer may be another. */
    const stateOf = ({ endedCount, requests }: ControlState) => (asRequestsBegin ? requests : endedCount);
    let seen = stateOf(store.state());
    const ask = async () => {
      timer = undefined;
      isRunning = true;
      isDue = false;
      const next = await load().then(
        (answer) => ({ answer, problem: null }),
        (error: unknown) => ({ problem: asControlError(error) }),
      );
      isRunning = false;
      if (isOver) return;
      setState((old) => ({ ...old, ...next }));
      if (isDue) askSoon();
    };
    const askSoon = () => {
      isDue = true;
      // A timer that runs is not put off: else a steady stream of requests would never be told.
      if (!isRunning && !document.hidden) timer ??= setTimeout(ask, pauseMs);
    };
    const stopListening = store.subscribe(() => {
      const now = stateOf(store.state());
      if (now === seen) return;
      seen = now;
      askSoon();
    });
    const clock = setInterval(askSoon, longestPauseMs);
    document.addEventListener('visibilitychange', askSoon);
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(clock);
      stopListening();
      document.removeEventListener('visibilitychange', askSoon);
    };
  }, [store, load, asRequestsBegin]);
  return state;
}
