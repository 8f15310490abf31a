/** What the panel knows: the engine's answer to the query `panel`, asked again while the panel is in sight. */

import { useEffect, useState, useSyncExternalStore } from 'react';
import { localCalendar, localZone } from '../../server/contract/calendar.ts';
import type { CommandInput, CommandResult } from '../../server/contract/commands.ts';
import type { ControlEvent } from '../../server/contract/events.ts';
import type { DesktopView } from '../../server/contract/ipc.ts';
import type { PanelView } from '../../server/contract/panel-view.ts';
import {
  asControlError,
  type Connection,
  type ControlApi,
  type ControlError,
  type DesktopApi,
} from '../state/api/api.ts';

interface PanelState {
  /** The last answer; null before the first. */
  view: PanelView | null;
  connection: Connection;
  /** Why the last question was not answered; null if it was. */
  problem: ControlError | null;
}

export interface PanelStore {
  state(): PanelState;
  /** Calls back on changes. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  /** Asks once, so that something is known before the panel is shown. */
  prepare(): void;
  /** Whether the panel is in sight. Out of sight it asks nothing and listens to nothing, but keeps what it knows. */
  show(isShown: boolean): void;
  /** Resolves once the state shows the effect of the command. Rejects with a `ControlError`. */
  execute(command: CommandInput): Promise<CommandResult>;
  query: ControlApi['query'];
  /** Tries to connect at once. */
  reconnect(): void;
}

/** Long enough to combine a burst of requests into one question. */
const pauseMs = 400;
/** Figures also change with time: a day ends, a capture too. */
const longestPauseMs = 30_000;

/** These change nothing that the panel shows, or come with another event that does. Nothing is missed before a snapshot: the panel has just asked. */
const unseen: readonly ControlEvent['type'][] = [
  'update-ready',
  'limit-reached',
  'session-budget-reached',
  'pin-changed',
];

export function createPanelStore(api: ControlApi): PanelStore {
  let state: PanelState = { view: null, connection: 'connecting', problem: null };
  const listeners = new Set<() => void>();
  const set = (next: Partial<PanelState>) => {
    state = { ...state, ...next };
    for (const listener of listeners) listener();
  };

  let newest = 0;
  const ask = async () => {
    newest += 1;
    const number = newest;
    const { startMs } = localCalendar().periodOf('day', Date.now());
    const answer = await api.query<'panel'>({ type: 'panel', sinceMs: startMs, zone: localZone() }).then(
      (view) => ({ view, problem: null, connection: 'open' as const }),
      (error: unknown) => ({ problem: asControlError(error) }),
    );
    // A later question has the later answer.
    if (number === newest) set(answer);
  };

  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setInterval> | undefined;
  let subscription: { stop(): void; retry(): void } | null = null;
  const askSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void ask();
    }, pauseMs);
  };
  let isShown = false;
  const begin = async () => {
    again = setInterval(askSoon, longestPauseMs);
    // Only then, because the connection begins with all that the window knows, which takes time from the figures.
    await ask();
    if (!isShown || subscription) return;
    subscription = api.subscribe({
      onEvent({ type }) {
        if (!unseen.includes(type)) askSoon();
      },
      onConnection: (connection) => set({ connection }),
    });
  };
  const end = () => {
    subscription?.stop();
    subscription = null;
    clearTimeout(timer);
    clearInterval(again);
    timer = undefined;
  };
  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    prepare: () => void ask(),
    show(next) {
      if (next === isShown) return;
      isShown = next;
      if (isShown) void begin();
      else end();
    },
    async execute(command) {
      const result = await api.execute(command);
      await ask();
      return result;
    },
    query: api.query,
    reconnect: () => subscription?.retry(),
  };
}

export interface PanelActions {
  /** Whether commands can succeed. */
  canChange: boolean;
  /** Resolves with null if it failed, and `problem` says why, or if another one is still running. */
  run(command: CommandInput): Promise<CommandResult | null>;
  /** Why the last command failed, or else the last question; null if neither did. */
  problem: ControlError | null;
}

/** What the engine says, and what can be done. */
export function usePanel(store: PanelStore): PanelState & PanelActions {
  const state = useSyncExternalStore(store.subscribe, store.state);
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<ControlError | null>(null);
  return {
    ...state,
    canChange: state.connection === 'open' && state.view?.readOnly === false,
    // Without a connection, that is said already.
    problem: failure ?? (state.connection === 'open' ? state.problem : null),
    async run(command) {
      if (isRunning) return null;
      setRunning(true);
      setFailure(null);
      try {
        return await store.execute(command);
      } catch (error) {
        setFailure(asControlError(error));
        return null;
      } finally {
        setRunning(false);
      }
    },
  };
}

/** Null until the desktop says it, and in a browser. */
export function useDesktopView(desktop: DesktopApi | null) {
  const [view, setView] = useState<DesktopView | null>(null);
  useEffect(() => {
    if (!desktop) return;
    // A failure is ignored, because `onChange` reports changes anyway.
    desktop.call('desktop', null).then(setView, () => {});
    return desktop.onChange(setView);
  }, [desktop]);
  return view;
}
