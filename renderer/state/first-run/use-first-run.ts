import { clientIdOf, isTool, windowId } from '../../../server/contract/known-clients.ts';
import type { ControlState } from '../control/control-state.ts';
import { type CommandRunner, useCommand } from '../control/use-command.ts';
import { useControlState } from '../control/use-control.ts';
import { createSessionValue, useSessionValue } from '../window/session-value.ts';

/** The progress of a new user, derived from the engine's state. */
export interface FirstRunProgress {
  /** A request was answered, wherever it was made. */
  hasCalled: boolean;
  /** Base URL and key were copied, or something other than the window has called with them. */
  hasAddress: boolean;
  /** A provider other than the demo can be used. */
  hasProvider: boolean;
  /** A program for models has had an answer: not the window, and not a call by hand or by a script. */
  hasTool: boolean;
}

type Known = Pick<ControlState, 'views' | 'requests'>;

export function progressOf({ views, requests }: Known): FirstRunProgress {
  // Requests without a capability, such as for the list of models, are often made by programs that are not used yet.
  const answered = requests.filter(({ outcome, capability }) => outcome === 'ok' && capability !== null);
  const clients = answered.map(({ client }) => client ?? '');
  return {
    hasCalled: answered.length > 0,
    hasAddress: clients.some((client) => clientIdOf(client) !== windowId),
    hasProvider: views?.providers.some(({ enabled, isDemo, unusable }) => enabled && !isDemo && !unusable) ?? false,
    hasTool: clients.some((client) => client !== '' && isTool(client)),
  };
}

/** What those who look at the window have done, not other people with keys of their own. */
function ownProgress({ views, requests }: ControlState): FirstRunProgress {
  const me = views?.status.person?.id ?? null;
  const isOfOthers = new Set(
    views?.keys.filter(({ owner }) => owner !== null && owner !== me).map(({ id }) => id as string | null),
  );
  return progressOf({ views, requests: requests.filter(({ keyId }) => !isOfOthers.has(keyId)) });
}

export const stepCount = 4;

export function doneSteps({ hasProvider, hasCalled, hasAddress, hasTool }: FirstRunProgress): number {
  return [hasProvider, hasCalled, hasAddress, hasTool].filter((isDone) => isDone).length;
}

export interface FirstRun {
  /** Until the person has ended it, in whichever window. */
  isShown: boolean;
  progress: FirstRunProgress;
  /** Kept by the engine, and so for all windows. */
  end: { command: CommandRunner; run(): void };
}

const addressCopied = createSessionValue<boolean>(false);

/** Whether the base URL or the key was copied from these steps, and a function to note that. */
export function useAddressCopied(): [isCopied: boolean, note: () => void] {
  const [isCopied, setCopied] = useSessionValue(addressCopied);
  return [isCopied, () => setCopied(true)];
}

/** The steps for who has a new data folder. */
export function useFirstRun(): FirstRun {
  const isShown = useControlState(({ views }) => views?.status.settings.guide === 'open');
  const hasCalled = useControlState((state) => ownProgress(state).hasCalled);
  const hasUsedAddress = useControlState((state) => ownProgress(state).hasAddress);
  const hasProvider = useControlState((state) => ownProgress(state).hasProvider);
  const hasTool = useControlState((state) => ownProgress(state).hasTool);
  const [isCopied] = useAddressCopied();
  const command = useCommand();
  return {
    isShown,
    progress: { hasCalled, hasAddress: hasUsedAddress || isCopied, hasProvider, hasTool },
    end: {
      command,
      run: () => void command.run({ type: 'settings.update', changes: { guide: 'done' } }),
    },
  };
}
