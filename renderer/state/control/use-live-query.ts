import { useEffect, useState } from 'react';
import { asControlError, type ControlError } from '../api/api.ts';
import type { ControlState } from './control-state.ts';
import { useControlStore } from './use-control.ts';

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
