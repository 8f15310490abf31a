import { useEffect, useRef } from 'react';

interface PanelMoves {
  onClose(): void;
  onNext: (() => void) | null;
  onPrevious: (() => void) | null;
}

/** J and K, and the arrows where nothing else uses them, go to the next and the previous request; Escape closes. */
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

function moveOf(event: KeyboardEvent, { onClose, onNext, onPrevious }: PanelMoves): (() => void) | null {
  const { key, target, altKey, ctrlKey, metaKey, defaultPrevented } = event;
  if (defaultPrevented || altKey || ctrlKey || metaKey || !(target instanceof Element)) return null;
  // A dialog or menu over the panel has its own keys.
  if (target.closest('[role="dialog"] [role="dialog"], [role="menu"], [data-over-panel]')) return null;
  if (key === 'Escape') return onClose;
  if (target.closest('input, textarea, select, [contenteditable="true"]')) return null;
  if (key === 'j') return onNext;
  if (key === 'k') return onPrevious;
  // In the panel they scroll, and move between its tabs.
  const isInList = target === document.body || target.closest('table') !== null;
  if (!isInList) return null;
  return key === 'ArrowDown' ? onNext : key === 'ArrowUp' ? onPrevious : null;
}
