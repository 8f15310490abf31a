import { type ComponentType, useEffect, useState } from 'react';
import { useControlState } from '../state/use-control.ts';
import { type LazyFile, loadedFile, loadFile } from '../views/lazy-files.ts';

interface LoadedFile {
  /** Null until it is loaded. */
  Component: ComponentType | null;
  /** Why it could not be loaded; null if that did not fail. It is tried again once the engine is back. */
  problem: unknown;
}

/** Not by `Suspense`, which holds back what comes after its fallback for 300 ms. */
export function useLazyFile(file: LazyFile): LoadedFile {
  const isOpen = useControlState((state) => state.connection === 'open');
  const [, setRound] = useState(0);
  const [problem, setProblem] = useState<unknown>(null);
  const Component = loadedFile(file);
  const isMissing = Component === null;
  useEffect(() => {
    if (!isMissing) return;
    let isCurrent = true;
    // The engine is back: what failed while it was gone is tried again.
    if (isOpen) setProblem(null);
    const draw = (failed: unknown) => {
      if (!isCurrent) return;
      setProblem(failed);
      setRound((round) => round + 1);
    };
    loadFile(file).then(() => draw(null), draw);
    return () => {
      isCurrent = false;
    };
  }, [file, isMissing, isOpen]);
  return { Component, problem };
}
