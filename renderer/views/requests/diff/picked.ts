/** The requests that are selected to be compared, at most two. They stay while the filter changes. */
import { useSyncExternalStore } from 'react';

interface Picked {
  ids: readonly string[];
  /** Their differences are shown. */
  isCompared: boolean;
}

const none: Picked = { ids: [], isCompared: false };
const most = 2;

let picked = none;
const listeners = new Set<() => void>();

export function usePicked(): Picked {
  return useSyncExternalStore(subscribe, () => picked);
}

/** Selects the request, or no longer; a third takes the place of the first. */
export function togglePick(id: string): void {
  const { ids } = picked;
  const next = ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id].slice(-most);
  change({ ids: next, isCompared: false });
}

export const clearPicks = () => change(none);

/** Does nothing unless two are selected. */
export const comparePicked = (isCompared = true) =>
  change({ ...picked, isCompared: isCompared && picked.ids.length === most });

function change(next: Picked): void {
  picked = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
