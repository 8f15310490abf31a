/** What lies over the window, whatever its screen and its dialogs show, and where the focus was before. */
import { createSessionValue } from './session-value.ts';

export type OverlayName = 'palette' | 'shortcuts';

const shown = createSessionValue<OverlayName | null>(null);
let lastFocus: Element | null = null;

export const overlay = {
  shown: shown.get,
  subscribe: shown.subscribe,
  open(name: OverlayName): void {
    if (shown.get() === null) lastFocus = document.activeElement;
    shown.set(name);
  },
  /** The focus goes back to where it was; what is done next may take it further. */
  close(): void {
    if (shown.get() === null) return;
    shown.set(null);
    if (lastFocus instanceof HTMLElement && lastFocus.isConnected) lastFocus.focus({ preventScroll: true });
    lastFocus = null;
  },
  /** Gives the focus to what has arrived below, at once or when nothing lies over it any more. */
  focusBelow(element: HTMLElement): void {
    if (shown.get() === null) element.focus();
    else lastFocus = element;
  },
};

/** Above dialogs (200) and what drops down from their fields (300), below the question about unsaved edits (400). */
export const overlayLevel = 350;
