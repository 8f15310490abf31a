import { useState } from 'react';
import type { ControlState } from '../../../state/control-state.ts';
import { useControlState } from '../../../state/use-control.ts';
import { type FirstRunProgress, progressOf, wasUsedBefore } from './progress.ts';

export interface FirstRun {
  isShown: boolean;
  progress: FirstRunProgress;
  /** For good, in this browser. */
  dismiss(): void;
}

const dismissedName = 'sluice.first-run-dismissed';
/** For as long as the tab is open: the path stays until it is walked, also after the first request. */
const begunName = 'sluice.first-run-begun';

/** The newcomer's path: shown from a start without any request on, until it is dismissed. */
export function useFirstRun(): FirstRun {
  const isKnown = useControlState((state) => state.views !== null);
  const hasCalled = useControlState((state) => stepOf(state, 'hasCalled'));
  const hasProvider = useControlState((state) => stepOf(state, 'hasProvider'));
  const hasTool = useControlState((state) => stepOf(state, 'hasTool'));
  const wasUsed = useControlState(wasUsedBefore);
  const [isDismissed, setDismissed] = useState(() => read(localStorage, dismissedName));
  const [hasBegun] = useState(() => read(sessionStorage, begunName));
  const [startsNow, setStartsNow] = useState<boolean | null>(null);
  // Decided once, when the first snapshot is here.
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

/** A browser may refuse to keep anything. */
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
    // Then the path is shown again.
  }
}
