/**
 * The window's location, in the part of the address after `#`: `#/requests?outcome=error`. The page itself is always
 * the same file, however it is served. wouter's own hash location puts the search before the `#`, where it stays when
 * its screen is left.
 *
 * A screen with unsaved edits is left only after confirmation. Back, Forward and a typed address cannot be prevented,
 * so they are reverted, and repeated once the person agrees.
 */
import { useSyncExternalStore } from 'react';
import { unsavedEdits } from './unsaved-edits.ts';

interface NavigateOptions {
  /** Adds no entry to the history. */
  replace?: boolean;
  /** Skips the question about unsaved edits, because their subject is gone or was just saved. */
  discards?: boolean;
  /** Remounts the screen without its dialogs, even if it is the current one. */
  anew?: boolean;
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
let shown = location.hash;
/** Its position in the history, counted from where the window was opened. */
let place = placeInHistory() ?? 0;
history.replaceState({ place }, '');
let isElsewhere = false;
/** How often a screen was remounted on request. */
let beginnings = 0;
/** Runs at the next change of the address, which this module itself causes. */
let expected: (() => void) | null = null;

/** Changes whenever the screen is to be remounted. */
export const useBeginnings = () => useSyncExternalStore(listen, () => beginnings);

/** Whether the person has navigated since the page was loaded. */
export const hasMoved = () => isElsewhere;

// Navigation by the browser: Back, Forward, and a typed address. Registered before all other listeners, so that it can
// stop the event from reaching them.
addEventListener('hashchange', (event) => {
  if (!event.isTrusted) return;
  const steps = (placeInHistory() ?? place + 1) - place;
  const act = expected;
  expected = null;
  if (act) {
    event.stopImmediatePropagation();
    act();
  } else if (steps === 0 || pathOf(location.hash) === pathOf(shown) || !unsavedEdits.has()) arrive(steps);
  else {
    event.stopImmediatePropagation();
    takeBack(steps);
  }
});

function arrive(steps: number): void {
  place += steps;
  shown = location.hash;
  isElsewhere = true;
  // A typed address has no position yet.
  history.replaceState({ place }, '');
}

function takeBack(steps: number): void {
  if (placeInHistory() === null) history.replaceState({ place: place + steps }, '');
  expected = () => {};
  history.go(-steps);
  unsavedEdits.ask(() => {
    expected = () => {
      arrive(steps);
      tell();
    };
    history.go(steps);
  });
}

function navigate(to: string, { replace = false, discards = false, anew = false }: NavigateOptions = {}): void {
  const go = () => {
    const url = `#${to}`;
    // If a second entry for the same location were added, Back would seem to do nothing.
    const isStep = !replace && url !== shown;
    isElsewhere ||= !replace;
    if (anew) beginnings += 1;
    if (isStep) place += 1;
    shown = url;
    if (isStep) history.pushState({ place }, '', url);
    else history.replaceState({ place }, '', url);
    tell();
  };
  if (discards || (!anew && pathOf(`#${to}`) === pathOf(shown))) go();
  else unsavedEdits.ask(go);
}

function tell(): void {
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function placeInHistory(): number | null {
  const state: unknown = history.state;
  if (typeof state !== 'object' || state === null || !('place' in state)) return null;
  return typeof state.place === 'number' ? state.place : null;
}

function listen(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export const currentPath = () => `/${pathOf(shown)}`;
const search = () => shown.split('?', 2)[1] ?? '';

function pathOf(hash: string): string {
  return hash.replace(/^#?\/?/, '').split('?', 1)[0] ?? '';
}
