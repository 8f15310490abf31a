/** The overlay shown above the screen and its dialogs, and the element that had the focus before. */
import { createSessionValue } from './session-value.ts';

export type OverlayName = 'palette' | 'shortcuts' | 'testing';

/** The key or group whose requests are tested. */
export interface TestingSubject {
  kind: 'key' | 'group';
  id: string;
}

const shown = createSessionValue<OverlayName | null>(null);
const testingSubject = createSessionValue<TestingSubject | null>(null);
let lastFocus: Element | null = null;

export const overlay = {
  shown: shown.get,
  subscribe: shown.subscribe,
  open(name: OverlayName): void {
    if (shown.get() === null) lastFocus = document.activeElement;
    shown.set(name);
  },
  /** Whose settings the drawer “Testing” shows; null for all that is on. */
  testingSubject,
  openTesting(subject: TestingSubject | null): void {
    testingSubject.set(subject);
    overlay.open('testing');
  },
  /** Returns the focus to where it was; the action that follows may move it on. */
  close(): void {
    if (shown.get() === null) return;
    shown.set(null);
    if (lastFocus instanceof HTMLElement && lastFocus.isConnected) lastFocus.focus({ preventScroll: true });
    lastFocus = null;
  },
  /** Focuses an element below the overlay, at once or when the overlay is closed. */
  focusBelow(element: HTMLElement): void {
    if (shown.get() === null) element.focus();
    else lastFocus = element;
  },
};

/** Above dialogs (200) and the drop-downs of their fields (300), below the question about unsaved edits (400). */
export const overlayLevel = 350;
