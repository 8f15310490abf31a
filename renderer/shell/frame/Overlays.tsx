import { useEffect, useEffectEvent, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { pathOf } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { usePlaces } from '../../state/rights/use-rights.ts';
import { announce, announcement } from '../../state/window/announcement.ts';
import { useAddressChange, useHashLocation } from '../../state/window/hash-location.ts';
import { type OverlayName, overlay } from '../../state/window/overlay.ts';
import { createGoKeys, isTextField, shortcutOf } from '../../state/window/shortcuts.ts';
import { useMenuActs } from '../../state/window/use-desktop.ts';
import { type LazyFile, useLazyFile } from '../screens/lazy-files.ts';
import classes from './Overlays.module.css';

/** The overlays above every screen, the shortcuts that open them, and the announcement shown after they have closed. */
export function Overlays() {
  const shown = useSyncExternalStore(overlay.subscribe, overlay.shown);
  useGoKeys();
  // What is shown belongs to the screen that is left; the palette, where one goes on typing, to none.
  useAddressChange(() => overlay.shown() !== 'palette' && overlay.close());
  // Before the page is shown, so that no key press on it is lost.
  useLayoutEffect(() => {
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      overlay.close();
    };
  }, []);
  const { reload } = useControlStore();
  useMenuActs({ 'find-anything': () => overlay.open('palette'), 'reload-data': reload });
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

/** G and the letter of a place open it, wherever the focus is, except in a field, a menu or a dialog. */
function useGoKeys(): void {
  const places = usePlaces();
  const [, navigate] = useHashLocation();
  const keys = useRef(createGoKeys(() => performance.now()));
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isTextField(event.target) || isInLayer(event.target)) return;
    const meant = keys.current(event);
    if (meant === null || meant === 'begun') return;
    const [screen] = places.find(({ id }) => id === meant.id)?.screens ?? [];
    if (screen === undefined) return;
    event.preventDefault();
    navigate(pathOf(screen));
  });
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Menus find their entries by letters, and a dialog is not left by a key that is meant for what is below it. */
function isInLayer(target: EventTarget | null): boolean {
  const isInMenu = target instanceof Element && target.closest('[role="menu"], [role="listbox"]') !== null;
  return isInMenu || document.querySelector('[aria-modal="true"]') !== null;
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

/**
 * Announces the result of an action whose controls are gone. Always mounted, because screen readers only watch regions
 * that exist before their text changes.
 */
function Announcement() {
  const text = useSyncExternalStore(announcement.subscribe, announcement.get);
  return (
    <div className={classes.announcement} aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  );
}

/** The overlays that can cover every screen, and their files. */
export const overlayFiles: Record<OverlayName, LazyFile> = {
  palette: {
    name: 'palette',
    load: async () => (await import('../palette/Palette.tsx')).Palette,
  },
  shortcuts: {
    name: 'shortcuts',
    load: async () => (await import('../palette/ShortcutSheet.tsx')).ShortcutSheet,
  },
  testing: {
    name: 'testing',
    load: async () => (await import('../../components/testing/TestingDrawer.tsx')).TestingDrawer,
  },
};
