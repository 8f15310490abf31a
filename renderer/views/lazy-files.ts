/** The files of screens and overlays: each is loaded once, and asked for again where that failed. */
import type { ComponentType } from 'react';

export interface LazyFile {
  /** No two have the same. */
  name: string;
  load(): Promise<ComponentType>;
}

const loaded = new Map<string, ComponentType>();
const loading = new Map<string, Promise<ComponentType>>();

/** Null: it is not loaded yet. */
export function loadedFile({ name }: LazyFile): ComponentType | null {
  return loaded.get(name) ?? null;
}

/** Rejects if its files cannot be fetched; another call fetches them again. */
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

/** Loads them one after the other, each when the page has nothing else to do. Returns what ends it. */
export function loadWhenIdle(files: readonly LazyFile[]): () => void {
  let isStopped = false;
  const loadNext = async (rest: readonly LazyFile[]) => {
    await idle();
    const [next, ...others] = rest.filter((file) => !loaded.has(file.name));
    if (isStopped || !next) return;
    // One that cannot be fetched now is fetched when it is opened, or after the next reconnection.
    await loadFile(next).catch(() => {});
    await loadNext(others);
  };
  void loadNext(files);
  return () => {
    isStopped = true;
  };
}

/** Safari has no idle callbacks. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });
}
