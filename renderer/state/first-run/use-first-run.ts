import type { ControlState } from '../control/control-state.ts';
import { type CommandRunner, useCommand } from '../control/use-command.ts';
import { useControlState } from '../control/use-control.ts';
import { type FirstRunProgress, progressOf } from './progress.ts';

export interface FirstRun {
  /** Until the person has ended it, in whichever window. */
  isShown: boolean;
  progress: FirstRunProgress;
  /** Kept by the engine, and so for all windows. */
  end: { command: CommandRunner; run(): void };
}

/** The steps for who has a new data folder. */
export function useFirstRun(): FirstRun {
  const isShown = useControlState(({ views }) => views?.status.settings.guide === 'open');
  const hasCalled = useControlState((state) => stepOf(state, 'hasCalled'));
  const hasProvider = useControlState((state) => stepOf(state, 'hasProvider'));
  const hasTool = useControlState((state) => stepOf(state, 'hasTool'));
  const command = useCommand();
  return {
    isShown,
    progress: { hasCalled, hasProvider, hasTool },
    end: {
      command,
      run: () => void command.run({ type: 'settings.update', changes: { guide: 'done' } }),
    },
  };
}

function stepOf(state: ControlState, step: keyof FirstRunProgress): boolean {
  return progressOf(state)[step];
}
