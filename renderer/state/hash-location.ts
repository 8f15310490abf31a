/**
 * Where the window is, in the part of the address after `#`: `#/requests?outcome=error`. The page itself is always the same
 * file, whatever serves it. wouter's own hash location keeps the search before the `#`, where it outlives its screen.
 *
 * A screen with unsaved edits is left only after asking. Back and an address typed in cannot be prevented: they are taken
 * back, and done again once the person agrees.
 */
import { useSyncExternalStore } from 'react';
import { unsavedEdits } from './unsaved-edits.ts';

interface NavigateOptions {
  /** Leave no step in the history. */
  replace?: boolean;
  /** What was typed and not saved may be lost: its subject is gone, or was just saved. */
  discards?: boolean;
  /** The screen begins anew, without its dialogs, also if it is the one that is shown. */
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

/** What is shown, which differs from the address while a step is taken back. */
let shown = location.hash;
/** Its place in the history, counted from where the window was opened. */
let place = placeInHistory() ?? 0;
history.replaceState({ place }, '');
let isElsewhere = false;
/** How often a screen was to begin anew. */
let beginnings = 0;
/** What to do at the next change of the address, which is made here. */
let expected: (() => void) | null = null;

/** Another number for a screen that is to begin anew. */
export const useBeginnings = () => useSyncExternalStore(listen, () => beginnings);

/** The person has gone somewhere since the page began. */
export const hasMoved = () => isElsewhere;

// The browser's own: back, forth, and an address typed in. Registered before every other listener, which it may leave out.
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
  // An address that was typed in has no place yet.
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
    // A second step to the same place would be one that Back does not seem to take.
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
