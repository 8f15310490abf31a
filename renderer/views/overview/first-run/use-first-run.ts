import { useState } from 'react';
import type { ControlState } from '../../../state/control/control-state.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { type FirstRunProgress, progressOf, wasUsedBefore } from './progress.ts';

export interface FirstRun {
  isShown: boolean;
  progress: FirstRunProgress;
  /** Permanent in this browser. */
  dismiss(): void;
}

const dismissedName = 'sluice.first-run-dismissed';
/** Lasts as long as the tab: the steps stay until they are done, even after the first request. */
const begunName = 'sluice.first-run-begun';

/** The steps for new users: shown if there was no request at the start, until dismissed. */
export function useFirstRun(): FirstRun {
  const isKnown = useControlState((state) => state.views !== null);
  const hasCalled = useControlState((state) => stepOf(state, 'hasCalled'));
  const hasProvider = useControlState((state) => stepOf(state, 'hasProvider'));
  const hasTool = useControlState((state) => stepOf(state, 'hasTool'));
  const wasUsed = useControlState(wasUsedBefore);
  const [isDismissed, setDismissed] = useState(() => read(localStorage, dismissedName));
  const [hasBegun] = useState(() => read(sessionStorage, begunName));
  const [startsNow, setStartsNow] = useState<boolean | null>(null);
  // Decided once, when the first snapshot has arrived.
  if (isKnown && startsNow === null) setStartsNow(!hasCalled && !wasUsed);
  const isShown = isKnown && !isDismissed && (hasBegun || startsNow === true);
  if (isShown && !hasBegun) write(sessionStorage, begunName);
  return {
    isShown,
    progress: { hasCalled, hasProvider, hasTool },
    dismiss() {
      write(localStorage, dismissedName);
      setDismissed(true);
    },
  };
}

function stepOf(state: ControlState, step: keyof FirstRunProgress): boolean {
  return progressOf(state)[step];
}

/** Browsers may refuse access to storage. */
function read(storage: Storage, name: string): boolean {
  try {
    return storage.getItem(name) !== null;
  } catch {
    return false;
  }
}

function write(storage: Storage, name: string): void {
  try {
    storage.setItem(name, 'yes');
  } catch {
    // The steps are then shown again.
  }
}
