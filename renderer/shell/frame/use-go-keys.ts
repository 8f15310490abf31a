import { useEffect, useEffectEvent, useRef } from 'react';
import { pathOf } from '../../../server/contract/places.ts';
import { usePlaces } from '../../state/rights/use-places.ts';
import { createGoKeys } from '../../state/window/go-keys.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { isTextField } from '../../state/window/shortcuts.ts';

/** G and the letter of a place open it, wherever the focus is, except in a field, a menu or a dialog. */
export function useGoKeys(): void {
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
