/** The panel by keyboard alone: arrows go through all that can be pressed, as in a menu, and Escape leaves. */
import type { KeyboardEvent } from 'react';

const stops = 'a[href], button:not(:disabled)';

/** For the element around them. Enter and Space are the elements' own. */
export function moveByArrows(event: KeyboardEvent<HTMLElement>, leave: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    event.preventDefault();
    leave();
    return;
  }
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(stops)];
  const next = targetOf(event.key, all);
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function targetOf(key: string, all: readonly HTMLElement[]): HTMLElement | undefined {
  const at = all.indexOf(document.activeElement as HTMLElement);
  switch (key) {
    case 'ArrowDown':
      return all[at + 1] ?? all[0];
    case 'ArrowUp':
      return all[at - 1] ?? all.at(-1);
    case 'Home':
      return all[0];
    case 'End':
      return all.at(-1);
    default:
      return undefined;
  }
}
