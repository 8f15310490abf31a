/** The window's keyboard shortcuts. Their handlers and the sheet that lists them read the same table. Pure. */
import { type Place, places } from '../../../server/contract/places.ts';

export type ShortcutName = (typeof table)[number]['name'];
export type ShortcutScope = (typeof table)[number]['scope'];

export interface Shortcut {
  name: ShortcutName;
  /** Where it applies: in the whole window, in the list of requests, beside the list while a request is open, or in
   * the message of the playground. */
  scope: ShortcutScope;
  /** Values of `KeyboardEvent.key`; each triggers the shortcut. */
  keys: readonly string[];
  /** Pressed with Command on Apple keyboards, otherwise with Control. It then works in text fields too. */
  withCommand: boolean;
}

const table = [
  { scope: 'window', name: 'palette', keys: ['k'], withCommand: true },
  { scope: 'window', name: 'search', keys: ['/'], withCommand: false },
  { scope: 'window', name: 'shortcuts', keys: ['?'], withCommand: false },
  { scope: 'requests', name: 'next-row', keys: ['j', 'ArrowDown'], withCommand: false },
  { scope: 'requests', name: 'previous-row', keys: ['k', 'ArrowUp'], withCommand: false },
  { scope: 'requests', name: 'page-down', keys: ['PageDown'], withCommand: false },
  { scope: 'requests', name: 'page-up', keys: ['PageUp'], withCommand: false },
  { scope: 'requests', name: 'first-row', keys: ['Home'], withCommand: false },
  { scope: 'requests', name: 'last-row', keys: ['End'], withCommand: false },
  { scope: 'requests', name: 'pick-row', keys: ['x'], withCommand: false },
  { scope: 'requests', name: 'compare-rows', keys: ['c'], withCommand: false },
  { scope: 'request', name: 'next-request', keys: ['j', 'ArrowDown'], withCommand: false },
  { scope: 'request', name: 'previous-request', keys: ['k', 'ArrowUp'], withCommand: false },
  { scope: 'request', name: 'close-request', keys: ['Escape'], withCommand: false },
  { scope: 'playground', name: 'send', keys: ['Enter'], withCommand: false },
  { scope: 'playground', name: 'edit-last', keys: ['ArrowUp'], withCommand: false },
  { scope: 'playground', name: 'stop', keys: ['Escape'], withCommand: false },
] as const;

export const shortcuts: readonly Shortcut[] = table;
export const shortcutScopes: readonly ShortcutScope[] = ['window', 'requests', 'request', 'playground'];

type KeyPress = Pick<KeyboardEvent, 'key' | 'keyCode' | 'isComposing' | 'altKey' | 'ctrlKey' | 'metaKey'>;

export const isAppleKeyboard = /^(?:Mac|iP)/.test(navigator.platform);

/** The shortcut of `scope` that was pressed; null if none. */
export function shortcutOf(scope: ShortcutScope, press: KeyPress, isApple = isAppleKeyboard): ShortcutName | null {
  const { key, altKey, ctrlKey, metaKey } = press;
  if (altKey || isComposing(press)) return null;
  const withCommand = isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (!withCommand && (ctrlKey || metaKey)) return null;
  const isPressed = (shortcut: Shortcut) =>
    shortcut.scope === scope && shortcut.withCommand === withCommand && shortcut.keys.includes(key);
  return shortcuts.find(isPressed)?.name ?? null;
}

const keyOfInputMethod = 229;

/** Whether the key belongs to an input method, such as the Enter that accepts a Chinese word. */
export function isComposing({ isComposing: isInside, keyCode }: Pick<KeyPress, 'isComposing' | 'keyCode'>): boolean {
  // Safari ends the composition before it sends the event of the key that ended it.
  return isInside || keyCode === keyOfInputMethod;
}

const textFields = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"]';

/** Keys enter text there, so they are not shortcuts. */
export function isTextField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(textFields) !== null;
}

/** The labels on the keys, such as `⌘K`, `Ctrl K`, `J` or `↓`. */
export function keyCaps({ keys, withCommand }: Shortcut, isApple = isAppleKeyboard): string[] {
  const caps = keys.map((key) => symbols[key] ?? key.toUpperCase());
  if (!withCommand) return caps;
  return caps.map((cap) => (isApple ? `⌘${cap}` : `Ctrl ${cap}`));
}

const symbols: Record<string, string> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  PageDown: 'Page Down',
  PageUp: 'Page Up',
  Home: 'Home',
  End: 'End',
  Escape: 'Esc',
  Enter: '↵',
};

/** Longer pauses are two separate key presses. */
const longestPauseMs = 1_500;

/** `begun`: G, which waits for a letter. Null if the key means nothing here. */
type GoKey = 'begun' | Place | null;

/** Remembers whether G was pressed last. */
export function createGoKeys(nowMs: () => number): (press: KeyPress & { shiftKey: boolean }) => GoKey {
  let begunAtMs: number | null = null;
  return (press) => {
    const begun = begunAtMs;
    begunAtMs = null;
    if (press.altKey || press.ctrlKey || press.metaKey || press.shiftKey || isComposing(press)) return null;
    if (begun !== null && nowMs() - begun <= longestPauseMs) {
      const place = places.find(({ letter }) => letter === press.key);
      if (place) return place;
    }
    if (press.key !== 'g') return null;
    begunAtMs = nowMs();
    return 'begun';
  };
}

/** The keys as labelled on the keyboard. */
export const goKeyCaps = ({ letter }: Pick<Place, 'letter'>): string[] => ['G', letter.toUpperCase()];
