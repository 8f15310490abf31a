/** Loads the files of screens and overlays. Each is loaded once, and again if that failed. */
import { type ComponentType, useEffect, useState } from 'react';
import { useControlState } from '../../state/control/use-control.ts';

export interface LazyFile {
  /** Unique. */
  name: string;
  load(): Promise<ComponentType>;
}

const loaded = new Map<string, ComponentType>();
const loading = new Map<string, Promise<ComponentType>>();

/** Null until loaded. */
function loadedFile({ name }: LazyFile): ComponentType | null {
  return loaded.get(name) ?? null;
}

/** Rejects if its files cannot be fetched; a further call tries again. */
export function loadFile({ name, load }: LazyFile): Promise<ComponentType> {
  const running = loading.get(name);
  if (running) return running;
  const started = load().then((Component) => {
    loaded.set(name, Component);
    return Component;
  });
  loading.set(name, started);
  started.catch(() => loading.delete(name));
  return started;
}

/** Loads the files one after the other while the page is idle. Returns a function that stops this. */
export function loadWhenIdle(files: readonly LazyFile[]): () => void {
  let isStopped = false;
  const loadNext = async (rest: readonly LazyFile[]) => {
    await idle();
    const [next, ...others] = rest.filter((file) => !loaded.has(file.name));
    if (isStopped || !next) return;
    // If this fails, the file is fetched when it is opened, or after the next reconnection.
    await loadFile(next).catch(() => {});
    await loadNext(others);
  };
  void loadNext(files);
  return () => {
    isStopped = true;
  };
}

/** Safari has no `requestIdleCallback`. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });
}

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
