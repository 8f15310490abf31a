import type { ControlState } from '../control/control-state.ts';
import { type CommandRunner, useCommand } from '../control/use-command.ts';
import { useControlState } from '../control/use-control.ts';

/** The progress of a new user, derived from the engine's state. */
export interface FirstRunProgress {
  /** A request was answered, either the person's own or the one made by these steps. */
  hasCalled: boolean;
  /** A provider other than the demo can be used. */
  hasProvider: boolean;
  /** A program other than a browser or curl has made a request. */
  hasTool: boolean;
}

type Known = Pick<ControlState, 'views' | 'requests'>;

const notATool = /^(Mozilla|curl)\//;

export function progressOf({ views, requests }: Known): FirstRunProgress {
  // Requests without a capability, such as for the list of models, are often made by programs that are not used yet.
  const answeredRequests = requests.filter(({ outcome, capability }) => outcome === 'ok' && capability !== null);
  return {
    hasCalled: answeredRequests.length > 0,
    hasProvider: views?.providers.some(({ enabled, isDemo, unusable }) => enabled && !isDemo && !unusable) ?? false,
    hasTool: answeredRequests.some(({ client }) => client !== null && !notATool.test(client)),
  };
}

export const stepCount = 4;

/** The first two steps are done by what they lead to: base URL and key are known to whoever has called. */
export function doneSteps({ hasCalled, hasProvider, hasTool }: FirstRunProgress): number {
  return [hasCalled, hasCalled, hasProvider, hasTool].filter((isDone) => isDone).length;
}

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
