import { describe, expect, it } from 'vitest';
import {
  createGoKeys,
  keyCaps,
  type ShortcutScope,
  shortcutOf,
  shortcutScopes,
  shortcuts,
} from '../../../../renderer/state/window/shortcuts.ts';
import { places } from '../../../../server/contract/places.ts';

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

const pressGo = (key: string, changes: Partial<KeyboardEvent> = {}) => ({
  ...{ key, keyCode: 0, isComposing: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false },
  ...changes,
});

it.each(places.map(({ id, letter }) => [letter, id] as const))('G and %s open %s, once', (letter, id) => {
  const keys = createGoKeys(() => 0);
  expect(keys(pressGo('g'))).toBe('begun');
  expect(keys(pressGo(letter))).toMatchObject({ id });
  expect(keys(pressGo(letter))).toBe(null);
});

it('a letter alone, after another key, after a pause, or with a modifier opens nothing', () => {
  let nowMs = 0;
  const keys = createGoKeys(() => nowMs);
  expect(keys(pressGo('t'))).toBe(null);
  keys(pressGo('g'));
  expect(keys(pressGo('x'))).toBe(null);
  expect(keys(pressGo('t'))).toBe(null);
  keys(pressGo('g'));
  nowMs += 1_501;
  expect(keys(pressGo('t'))).toBe(null);
  for (const modifier of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { shiftKey: true }]) {
    keys(pressGo('g'));
    expect(keys(pressGo('t', modifier))).toBe(null);
    expect(keys(pressGo('g', modifier))).toBe(null);
  }
  keys(pressGo('g'));
  expect(keys(pressGo('t', { isComposing: true }))).toBe(null);
});

it('G twice still waits for a letter', () => {
  const keys = createGoKeys(() => 0);
  keys(pressGo('g'));
  expect(keys(pressGo('g'))).toBe('begun');
  expect(keys(pressGo('a'))).toMatchObject({ id: 'access' });
});
