/** Loads the files of screens and overlays. Each is loaded once, and again if that failed. */
import type { ComponentType } from 'react';

export interface LazyFile {
  /** Unique. */
  name: string;
  load(): Promise<ComponentType>;
}

const loaded = new Map<string, ComponentType>();
const loading = new Map<string, Promise<ComponentType>>();

/** Null until loaded. */
export function loadedFile({ name }: LazyFile): ComponentType | null {
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
