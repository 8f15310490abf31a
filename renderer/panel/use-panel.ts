import { useEffect, useState, useSyncExternalStore } from 'react';
import type { CommandInput, CommandResult } from '../../server/contract/commands.ts';
import type { DesktopView } from '../../server/contract/ipc.ts';
import { asControlError, type ControlError, type DesktopApi } from '../state/api/api.ts';
import type { PanelState, PanelStore } from './panel-store.ts';

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
