import { type RefObject, useEffect, useEffectEvent } from 'react';

interface Keys {
  /** A menu is open, which the left arrow leaves. */
  isInMenu: boolean;
  leave(): void;
}

/** The panel by keyboard: arrows go through all that can be pressed, as in a menu, and Escape leaves. Enter and Space are the elements' own. */
export function useArrowKeys(frame: RefObject<HTMLElement | null>, { isInMenu, leave }: Keys): void {
  const handle = useEffectEvent((event: KeyboardEvent) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const isInText = target instanceof HTMLInputElement;
    if (key === 'Escape' || (key === 'ArrowLeft' && isInMenu && !isInText)) {
      event.preventDefault();
      leave();
    } else if (key === 'ArrowRight' && target instanceof HTMLElement && 'client' in target.dataset) {
      target.click();
    } else if (!isInText || key.startsWith('Arrow')) {
      moveFocus(frame.current, event);
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handle(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

const stops = 'a[href], button:not(:disabled), input';

function moveFocus(frame: HTMLElement | null, event: KeyboardEvent): void {
  const all = [...(frame?.querySelectorAll<HTMLElement>(stops) ?? [])];
  const at = all.findIndex((each) => each.matches(':focus'));
  const targets: Record<string, HTMLElement | undefined> = {
    ArrowDown: all[at + 1] ?? all[0],
    ArrowUp: at < 1 ? all.at(-1) : all[at - 1],
    Home: all[0],
    End: all.at(-1),
  };
  const next = targets[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
