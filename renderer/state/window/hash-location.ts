/**
 * The window's location, in the part of the address after `#`: `#/requests?outcome=error`. The page itself is always
 * the same file, however it is served. wouter's own hash location puts the search before the `#`, where it stays when
 * its screen is left.
 *
 * A screen with unsaved edits is left only after confirmation. Back, Forward and a typed address cannot be prevented,
 * so they are reverted, and repeated once the person agrees.
 */
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { unsavedEdits } from '../edits/unsaved-edits.ts';

interface NavigateOptions {
  /** Adds no entry to the history. */
  replace?: boolean;
  /** Skips the question about unsaved edits, because their subject is gone or was just saved. */
  discardEdits?: boolean;
  /** Remounts the screen without its dialogs, even if it is the current one. */
  remount?: boolean;
}

export function useHashLocation(): [string, typeof navigate] {
  return [useSyncExternalStore(listen, currentPath), navigate];
}
useHashLocation.searchHook = useHashSearch;
useHashLocation.hrefs = (to: string) => `#${to}`;

function useHashSearch(): string {
  return useSyncExternalStore(listen, search);
}

/** The location shown. It differs from the address while a navigation is being reverted. */
let shownHash = location.hash;
/** Its position in the history, counted from where the window was opened. */
let position = positionInHistory() ?? 0;
history.replaceState({ position }, '');
let wasNavigated = false;
/** How often a screen was remounted on request. */
let remountCount = 0;
/** Runs at the next change of the address, which this module itself causes. */
let onNextChange: (() => void) | null = null;

/** Changes whenever the screen is to be remounted. */
export const useRemountCount = () => useSyncExternalStore(listen, () => remountCount);

/** Whether the person has navigated since the page was loaded. */
export const hasNavigated = () => wasNavigated;

// Navigation by the browser: Back, Forward, and a typed address. Registered before all other listeners, so that it can
// stop the event from reaching them.
addEventListener('hashchange', (event) => {
  if (!event.isTrusted) return;
  const steps = (positionInHistory() ?? position + 1) - position;
  const action = onNextChange;
  onNextChange = null;
  if (action) {
    event.stopImmediatePropagation();
    action();
  } else if (steps === 0 || pathOf(location.hash) === pathOf(shownHash) || !unsavedEdits.has()) acceptAddress(steps);
  else {
    event.stopImmediatePropagation();
    revertNavigation(steps);
  }
});

function acceptAddress(steps: number): void {
  position += steps;
  shownHash = location.hash;
  wasNavigated = true;
  // A typed address has no position yet.
  history.replaceState({ position }, '');
}

function revertNavigation(steps: number): void {
  if (positionInHistory() === null) history.replaceState({ position: position + steps }, '');
  onNextChange = () => {};
  history.go(-steps);
  unsavedEdits.confirmThen(() => {
    onNextChange = () => {
      acceptAddress(steps);
      notifyListeners();
    };
    history.go(steps);
  });
}

function navigate(to: string, { replace = false, discardEdits = false, remount = false }: NavigateOptions = {}): void {
  const apply = () => {
    const url = `#${to}`;
    // If a second entry for the same location were added, Back would seem to do nothing.
    const addsEntry = !replace && url !== shownHash;
    wasNavigated ||= !replace;
    if (remount) remountCount += 1;
    if (addsEntry) position += 1;
    shownHash = url;
    if (addsEntry) history.pushState({ position }, '', url);
    else history.replaceState({ position }, '', url);
    notifyListeners();
  };
  if (discardEdits || (!remount && pathOf(`#${to}`) === pathOf(shownHash))) apply();
  else unsavedEdits.confirmThen(apply);
}

function notifyListeners(): void {
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function positionInHistory(): number | null {
  const state: unknown = history.state;
  if (typeof state !== 'object' || state === null || !('position' in state)) return null;
  return typeof state.position === 'number' ? state.position : null;
}

function listen(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** Acts at every change of the address, in place or to another screen, which an unsaved edit has not prevented. */
export function useAddressChange(act: () => void): void {
  const onChange = useEffectEvent(act);
  useEffect(() => listen(() => onChange()), []);
}

export const currentPath = () => `/${pathOf(shownHash)}`;
const search = () => shownHash.split('?', 2)[1] ?? '';

function pathOf(hash: string): string {
  return hash.replace(/^#?\/?/, '').split('?', 1)[0] ?? '';
}
