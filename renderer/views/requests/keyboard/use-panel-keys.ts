import { useEffect, useRef } from 'react';
import { isTextField, shortcutOf } from '../../../state/window/shortcuts.ts';

interface PanelMoves {
  /** Set while a dialog is open over the panel; Escape then closes the dialog. */
  onCloseDialog: (() => void) | null;
  onClose(): void;
  onNext: (() => void) | null;
  onPrevious: (() => void) | null;
}

/** Marks the dialogs in which the keys apply: the panel itself in a narrow window, and the one that sends again. */
export const withPanelKeys = { 'data-panel-keys': true };

/** J and K, and the arrow keys if nothing else uses them, open the next and the previous request; Escape closes. */
export function usePanelKeys(moves: PanelMoves): void {
  const current = useRef(moves);
  current.current = moves;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const move = moveOf(event, current.current);
      if (!move) return;
      event.preventDefault();
      move();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function moveOf(event: KeyboardEvent, moves: PanelMoves): (() => void) | null {
  const { onCloseDialog, onClose, onNext, onPrevious } = moves;
  const { key, target } = event;
  const name = shortcutOf('request', event);
  if (event.defaultPrevented || name === null || !(target instanceof Element)) return null;
  // Any other dialog, such as the question about unsaved edits, handles its own keys.
  if (target.closest('[role="dialog"]:not([data-panel-keys])')) return null;
  // Menus and open lists handle their own keys.
  if (target.closest('[role="menu"], [aria-expanded="true"][role="combobox"]')) return null;
  const isInText = isTextField(target);
  // A stray key press must not lose typed text.
  if (onCloseDialog) return name === 'close-request' && !isInText ? onCloseDialog : null;
  if (name === 'close-request') return onClose;
  if (isInText) return null;
  // In the panel, the arrow keys scroll and switch tabs.
  const isInList = target === document.body || target.closest('table') !== null;
  if (key.startsWith('Arrow') && !isInList) return null;
  return name === 'next-request' ? onNext : onPrevious;
}
