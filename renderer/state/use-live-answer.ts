import { useEffect, useState } from 'react';
import { asControlError, type ControlError } from '../api.ts';
import type { ControlState } from './control-state.ts';
import { useControlStore } from './use-control.ts';

interface LiveAnswer<Answer> {
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
 * @param asRequestsBegin also reload soon after requests have begun
 */
export function useLiveAnswer<Answer>(load: () => Promise<Answer>, asRequestsBegin = false): LiveAnswer<Answer> {
  const store = useControlStore();
  const [state, setState] = useState<LiveAnswer<Answer>>({ answer: null, problem: null });
  useEffect(() => {
    let isOver = false;
    let isRunning = false;
    /** Something has changed since the last call of `load`. */
    let isDue = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** A value that changes whenever the answer may have changed. */
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
      // A running timer is not restarted, or a steady stream of requests would delay the reload forever.
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
