import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { type ShortcutName, shortcutOf } from '../../state/shortcuts.ts';

interface RowFocusOptions {
  requests: readonly { id: string }[];
  scroller: RefObject<HTMLElement | null>;
  /** Of the request that is shown in full; -1: none. */
  openIndex: number;
  /** The request that is open or was last, which stays in sight; null: none. */
  anchorId: string | null;
  scrollTo(index: number): void;
}

/** How far a key leads; `first` and `last` to the ends. */
const moves: Partial<Record<ShortcutName, number | 'first' | 'last'>> = {
  'next-row': 1,
  'previous-row': -1,
  'page-down': 10,
  'page-up': -10,
  'first-row': 'first',
  'last-row': 'last',
};

/**
 * One tab stop for the whole list: the row that had the focus last, else the first. Keys move the focus. While a request is shown
 * in full, its panel has the keys.
 */
export function useRowFocus({ requests, scroller, openIndex, anchorId, scrollTo }: RowFocusOptions) {
  const [chosen, setChosen] = useState(anchorId);
  const wanted = useRef<string | null>(null);
  const chosenIndex = requests.findIndex(({ id }) => id === chosen);
  const current = openIndex !== -1 ? openIndex : Math.max(0, chosenIndex);
  // The row may come into the page only once it was scrolled to.
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(`a[data-request="${CSS.escape(wanted.current)}"]`);
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });
  const anchorIndex = requests.findIndex(({ id }) => id === anchorId);
  const shownAnchor = useRef<string | null>(null);
  // Once for each, so that the list can be scrolled away from it.
  useEffect(() => {
    if (anchorIndex === -1 || shownAnchor.current === anchorId) return;
    shownAnchor.current = anchorId;
    scrollTo(anchorIndex);
  }, [anchorIndex, anchorId, scrollTo]);
  const onKeyDown = (event: KeyboardEvent) => {
    const name = shortcutOf('requests', event.nativeEvent);
    const move = name === null ? undefined : moves[name];
    if (move === undefined || openIndex !== -1) return;
    event.preventDefault();
    const last = requests.length - 1;
    const index = move === 'first' ? 0 : move === 'last' ? last : Math.min(last, Math.max(0, current + move));
    const id = requests[index]?.id ?? null;
    wanted.current = id;
    setChosen(id);
    scrollTo(index);
  };
  return { onKeyDown, tabStop: requests[current]?.id ?? null };
}
