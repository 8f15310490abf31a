import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isTextField, type ShortcutName, shortcutOf } from '../../../state/window/shortcuts.ts';

interface RowFocusOptions {
  requests: readonly { id: string }[];
  scroller: RefObject<HTMLElement | null>;
  /** Index of the request whose details are open; -1 if none. */
  openIndex: number;
  /** The request that is or was last open, which is kept in view; null if none. */
  anchorId: string | null;
  scrollTo(index: number): void;
  /** The row that has the focus is selected to be compared, or no longer. */
  onPick(id: string): void;
  /** Those that are selected are to be compared. */
  onCompare(): void;
}

/** How far each shortcut moves; `first` and `last` move to the ends. */
const moves: Partial<Record<ShortcutName, number | 'first' | 'last'>> = {
  'next-row': 1,
  'previous-row': -1,
  'page-down': 10,
  'page-up': -10,
  'first-row': 'first',
  'last-row': 'last',
};

/**
 * Makes the list one tab stop: the row that last had the focus, or else the first. Keys move the focus; J and K bring it
 * there from anywhere on the screen. While a request's details are open, its panel handles the keys.
 */
export function useRowFocus(options: RowFocusOptions) {
  const { requests, scroller, openIndex, anchorId, scrollTo, onPick, onCompare } = options;
  const [lastFocusedId, setLastFocusedId] = useState(anchorId);
  const pendingId = useRef<string | null>(null);
  const lastFocusedIndex = requests.findIndex(({ id }) => id === lastFocusedId);
  const current = openIndex !== -1 ? openIndex : Math.max(0, lastFocusedIndex);
  const focusPending = () => {
    if (pendingId.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(`a[data-request="${CSS.escape(pendingId.current)}"]`);
    if (!row) return;
    pendingId.current = null;
    row.focus({ preventScroll: true });
  };
  // The row may not be rendered until it has been scrolled to.
  useEffect(focusPending);
  const anchorIndex = requests.findIndex(({ id }) => id === anchorId);
  const shownAnchor = useRef<string | null>(null);
  // Once for each request, so that the person can scroll away from it.
  useEffect(() => {
    if (anchorIndex === -1 || shownAnchor.current === anchorId) return;
    shownAnchor.current = anchorId;
    scrollTo(anchorIndex);
  }, [anchorIndex, anchorId, scrollTo]);
  const focusRow = (index: number) => {
    const id = requests[index]?.id ?? null;
    pendingId.current = id;
    setLastFocusedId(id);
    scrollTo(index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const name = shortcutOf('requests', event.nativeEvent);
    const move = name === null ? undefined : moves[name];
    if (openIndex !== -1) return;
    const id = (event.target as Element).closest<HTMLElement>('a[data-request]')?.dataset.request;
    if (name === 'pick-row' && id !== undefined) onPick(id);
    if (name === 'compare-rows') onCompare();
    if (move === undefined) return;
    event.preventDefault();
    const last = requests.length - 1;
    focusRow(move === 'first' ? 0 : move === 'last' ? last : Math.min(last, Math.max(0, current + move)));
  };
  const enterByLetter = useEffectEvent((event: globalThis.KeyboardEvent) => {
    if (event.defaultPrevented || openIndex !== -1 || !isLetterOnScreen(event)) return;
    event.preventDefault();
    focusRow(current);
    // Nothing is rendered anew if it is the row that had the focus before.
    focusPending();
  });
  useEffect(() => {
    addEventListener('keydown', enterByLetter);
    return () => removeEventListener('keydown', enterByLetter);
  }, []);
  return { onKeyDown, tabStop: requests[current]?.id ?? null };
}

/** J or K, pressed where no field, menu or dialog takes letters. The other keys scroll the page there. */
function isLetterOnScreen(event: globalThis.KeyboardEvent): boolean {
  const { key, target } = event;
  const name = shortcutOf('requests', event);
  if ((name !== 'next-row' && name !== 'previous-row') || key.startsWith('Arrow')) return false;
  if (!(target instanceof Element) || isTextField(target)) return false;
  return target.closest('[role="dialog"], [role="menu"], [role="listbox"]') === null;
}
