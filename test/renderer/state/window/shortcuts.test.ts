import { describe, expect, it } from 'vitest';
import {
  keyCaps,
  type ShortcutScope,
  shortcutOf,
  shortcutScopes,
  shortcuts,
} from '../../../../renderer/state/window/shortcuts.ts';

const press = (key: string, changes: Partial<KeyboardEvent> = {}) => ({
  ...{ key, keyCode: 0, isComposing: false, altKey: false, ctrlKey: false, metaKey: false },
  ...changes,
});

describe('a shortcut', () => {
  it.each<[ShortcutScope, string, string]>([
    ['window', '/', 'search'],
    ['window', '?', 'shortcuts'],
    ['requests', 'j', 'next-row'],
    ['requests', 'End', 'last-row'],
    ['request', 'k', 'previous-request'],
    ['request', 'Escape', 'close-request'],
  ])('of the scope %s is found by %s', (scope, key, name) => {
    expect(shortcutOf(scope, press(key))).toBe(name);
  });

  it('holds in its scope only', () => {
    expect(shortcutOf('window', press('j'))).toBe(null);
    expect(shortcutOf('requests', press('Escape'))).toBe(null);
  });

  it.each([{ ctrlKey: true }, { metaKey: true }, { altKey: true }])('is not meant with %o', (modifier) => {
    for (const isApple of [false, true]) expect(shortcutOf('window', press('/', modifier), isApple)).toBe(null);
  });

  it.each([{ isComposing: true }, { keyCode: 229 }])('is not meant while an input method writes: %o', (composing) => {
    for (const { scope, keys, withCommand } of shortcuts) {
      for (const key of keys) {
        expect(shortcutOf(scope, press(key, { ...composing, ctrlKey: withCommand }), false)).toBe(null);
      }
    }
  });

  it('of the palette wants Command on Apple’s keyboards and Control on others', () => {
    const control = press('k', { ctrlKey: true });
    const command = press('k', { metaKey: true });
    expect([shortcutOf('window', control, false), shortcutOf('window', command, true)]).toEqual(['palette', 'palette']);
    expect([shortcutOf('window', control, true), shortcutOf('window', command, false)]).toEqual([null, null]);
  });

  it('has a key of its own within its scope', () => {
    for (const scope of shortcutScopes) {
      const keys = shortcuts.filter((each) => each.scope === scope).flatMap((each) => each.keys);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it('is written as on the keyboard', () => {
    const [palette] = shortcuts;
    if (!palette) throw new Error('There is no shortcut');
    expect([keyCaps(palette, true), keyCaps(palette, false)]).toEqual([['⌘K'], ['Ctrl K']]);
    expect(keyCaps({ ...palette, keys: ['j', 'ArrowDown', 'Escape'], withCommand: false })).toEqual(['J', '↓', 'Esc']);
  });
});
