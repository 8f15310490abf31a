import { useState } from 'react';
import { asControlError, type ControlError } from '../../state/api/api.ts';
import { announce } from '../../state/window/announcement.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { overlay } from '../../state/window/overlay.ts';
import type { PaletteEntry } from './palette-entry.ts';
import { rememberEntry } from './recent-entries.ts';

interface EntryRunner {
  run(entry: PaletteEntry): void;
  isRunning: boolean;
  /** Why the last entry failed, which leaves the palette open; null if it did not. */
  problem: ControlError | null;
}

/**
 * Runs an entry and closes the palette. An entry that cannot be run now leaves it open, with the reason shown in its
 * row.
 */
export function useEntryRunner(): EntryRunner {
  const [, navigate] = useHashLocation();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const work = async (action: () => Promise<string>) => {
    setRunning(true);
    setProblem(null);
    try {
      const done = await action();
      overlay.close();
      announce(done);
    } catch (error) {
      setProblem(asControlError(error));
      setRunning(false);
    }
  };
  return {
    run({ id, blocked, act }) {
      if (blocked || isRunning) return;
      rememberEntry(id);
      if ('work' in act) {
        void work(act.work);
        return;
      }
      // First, so that the next screen, or the question about unsaved edits, can take the focus.
      overlay.close();
      if ('run' in act) act.run();
      else navigate(act.href, { remount: true });
    },
    isRunning,
    problem,
  };
}
