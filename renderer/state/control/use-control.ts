import { createContext, useContext, useSyncExternalStore } from 'react';
import type { ControlState } from './control-state.ts';
import type { ControlStore } from './control-store.ts';

const StoreContext = createContext<ControlStore | null>(null);

export const ControlStoreProvider = StoreContext.Provider;

export function useControlStore(): ControlStore {
  const store = useContext(StoreContext);
  if (!store) throw new Error('useControlStore needs a ControlStoreProvider around it');
  return store;
}

/** Selects a part of the state. `select` must return the same object as long as nothing has changed. */
export function useControlState<Part>(select: (state: ControlState) => Part): Part {
  const store = useControlStore();
  return useSyncExternalStore(store.subscribe, () => select(store.state()));
}
