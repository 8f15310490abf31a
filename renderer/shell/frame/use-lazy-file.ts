import { type ComponentType, useEffect, useState } from 'react';
import { useControlState } from '../../state/control/use-control.ts';
import { type LazyFile, loadedFile, loadFile } from '../screens/lazy-files.ts';

interface LoadedFile {
  /** Null until loaded. */
  Component: ComponentType | null;
  /** Why loading failed; null if it did not. Loading is retried once the engine is back. */
  problem: unknown;
}

/** Loads a file without `Suspense`, which delays the content after its fallback by 300 ms. */
export function useLazyFile(file: LazyFile): LoadedFile {
  const isOpen = useControlState((state) => state.connection === 'open');
  const [, setRound] = useState(0);
  const [problem, setProblem] = useState<unknown>(null);
  const Component = loadedFile(file);
  const isMissing = Component === null;
  useEffect(() => {
    if (!isMissing) return;
    let isCurrent = true;
    // When the engine is back, loading is retried.
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
