/** Keys as Electron writes them (`Control+Alt+S`), from a key press and for people. Pure. */

type KeyPress = Pick<KeyboardEvent, 'code' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>;

/** Null for keys that must stay with other programs: without a modifier besides Shift, or a modifier alone. */
export function acceleratorOf(press: KeyPress, isApple: boolean): string | null {
  const { ctrlKey, altKey, shiftKey, metaKey } = press;
  const key = keyOf(press.code);
  if (key === null || !(ctrlKey || altKey || metaKey)) return null;
  const modifiers = [
    ...(ctrlKey ? ['Control'] : []),
    ...(altKey ? ['Alt'] : []),
    ...(shiftKey ? ['Shift'] : []),
    ...(metaKey ? [isApple ? 'Command' : 'Super'] : []),
  ];
  return [...modifiers, key].join('+');
}

/** `⌃⌥S` on Apple keyboards, otherwise `Ctrl Alt S`. */
export function keysOf(accelerator: string, isApple: boolean): string {
  const names = accelerator.split('+').map((part) => (isApple ? appleSymbols[part] : otherNames[part]) ?? part);
  return names.join(isApple ? '' : ' ');
}

const appleSymbols: Record<string, string> = {
  Control: '⌃',
  Alt: '⌥',
  Shift: '⇧',
  Command: '⌘',
};
const otherNames: Record<string, string> = {
  Control: 'Ctrl',
  Super: 'Win',
};

/** By the key's place, because with Alt held macOS gives other letters. Null for keys that no hotkey may have. */
function keyOf(code: string): string | null {
  const [, letterOrDigit] = /^(?:Key|Digit)([A-Z0-9])$/.exec(code) ?? [];
  if (letterOrDigit !== undefined) return letterOrDigit;
  if (/^F(?:[1-9]|1\d|2[0-4])$/.test(code) || code === 'Space') return code;
  return null;
}
