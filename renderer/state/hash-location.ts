/**
 * Where the window is, in the part of the address after `#`: `#/requests?outcome=error`. The page itself is always the same
 * file, whatever serves it. wouter's own hash location keeps the search before the `#`, where it outlives its screen.
 */
import { useSyncExternalStore } from 'react';

interface NavigateOptions {
  /** Leave no step in the history. */
  replace?: boolean;
}

export function useHashLocation(): [string, typeof navigate] {
  return [useSyncExternalStore(listen, path), navigate];
}
useHashLocation.searchHook = useHashSearch;
useHashLocation.hrefs = (to: string) => `#${to}`;

function useHashSearch(): string {
  return useSyncExternalStore(listen, search);
}

let isElsewhere = false;
// The browser's own: back, forth, and an address typed in.
addEventListener('hashchange', ({ isTrusted }) => {
  isElsewhere ||= isTrusted;
});

/** The person has gone somewhere since the page began. */
export const hasMoved = () => isElsewhere;

function navigate(to: string, { replace = false }: NavigateOptions = {}): void {
  isElsewhere ||= !replace;
  const url = `#${to}`;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function listen(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

const path = () => `/${parts()[0]}`;
const search = () => parts()[1];

function parts(): [path: string, search: string] {
  const [before = '', after = ''] = location.hash.replace(/^#?\/?/, '').split('?', 2);
  return [before, after];
}
