import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { announce } from '../../state/window/announcement.ts';
import { type OverlayName, overlay } from '../../state/window/overlay.ts';
import { isTextField, shortcutOf } from '../../state/window/shortcuts.ts';
import { Announcement } from './Announcement.tsx';
import { overlayFiles } from './overlays.ts';
import { useGoKeys } from './use-go-keys.ts';
import { useLazyFile } from './use-lazy-file.ts';

/** The overlays above every screen, the shortcuts that open them, and the announcement shown after they have closed. */
export function Overlays() {
  const shown = useSyncExternalStore(overlay.subscribe, overlay.shown);
  useGoKeys();
  // Before the page is shown, so that no key press on it is lost.
  useLayoutEffect(() => {
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      overlay.close();
    };
  }, []);
  return (
    <>
      {shown && <Loaded key={shown} name={shown} />}
      <Announcement />
    </>
  );
}

function Loaded({ name }: { name: OverlayName }) {
  const { unloaded } = useMessages().palette;
  const { Component, problem } = useLazyFile(overlayFiles[name]);
  useEffect(() => {
    if (problem === null) return;
    overlay.close();
    announce(unloaded);
  }, [problem, unloaded]);
  return Component && <Component />;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const name = shortcutOf('window', event);
  if (name === null || (name !== 'palette' && isTextField(event.target))) return;
  if (runShortcut(name)) event.preventDefault();
}

/** Returns false if there is nothing to do, in which case the browser handles the key. */
function runShortcut(name: string): boolean {
  if (name === 'search') return focusSearch();
  if (name === 'palette' && overlay.shown() === 'palette') overlay.close();
  else overlay.open(name === 'palette' ? 'palette' : 'shortcuts');
  return true;
}

/** Focuses the search box of the topmost dialog, or else of the screen. */
function focusSearch(): boolean {
  const container = [...document.querySelectorAll('[aria-modal="true"]')].at(-1) ?? document.querySelector('main');
  const box = container?.querySelector<HTMLInputElement>('input[type="search"]');
  box?.focus();
  box?.select();
  return box !== null && box !== undefined;
}
