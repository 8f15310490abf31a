import { useEffect, useState, useSyncExternalStore } from 'react';
import type { CommandInput } from '../../server/contract/commands.ts';
import type { DesktopView } from '../../server/contract/ipc.ts';
import { asControlError, type ControlError, type DesktopApi } from '../state/api/api.ts';
import type { PanelState, PanelStore } from './panel-store.ts';

export interface PanelActions {
  /** Whether commands can succeed. */
  canChange: boolean;
  /** Resolves with whether it was carried out; if not, `problem` says why. One runs at a time. */
  run(command: CommandInput): Promise<boolean>;
  /** Why the last command or switch failed; null if it did not. */
  problem: ControlError | null;
}

/** What the engine says, and what can be done. */
export function usePanel(store: PanelStore): PanelState & PanelActions {
  const state = useSyncExternalStore(store.subscribe, store.state);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  return {
    ...state,
    canChange: state.connection === 'open' && state.view?.readOnly === false,
    problem,
    async run(command) {
      if (isRunning) return false;
      setRunning(true);
      setProblem(null);
      try {
        await store.execute(command);
        return true;
      } catch (error) {
        setProblem(asControlError(error));
        return false;
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
