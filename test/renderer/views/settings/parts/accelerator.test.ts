import { describe, expect, it } from 'vitest';
import { acceleratorOf, keysOf } from '../../../../../renderer/views/settings/parts/accelerator.ts';
import { ipcArguments } from '../../../../../server/contract/ipc-arguments.ts';

const none = { ctrlKey: false, altKey: false, shiftKey: false, metaKey: false };

describe('the keys of a hotkey', () => {
  it('are what Electron reads, by the place of the key', () => {
    expect(acceleratorOf({ ...none, code: 'KeyS', ctrlKey: true, altKey: true }, false)).toBe('Control+Alt+S');
    expect(acceleratorOf({ ...none, code: 'Space', altKey: true, metaKey: true }, true)).toBe('Alt+Command+Space');
    expect(acceleratorOf({ ...none, code: 'Digit7', shiftKey: true, metaKey: true }, false)).toBe('Shift+Super+7');
    expect(acceleratorOf({ ...none, code: 'F12', ctrlKey: true }, false)).toBe('Control+F12');
  });

  it('are none while only modifiers are held, or nothing but Shift is', () => {
    for (const code of ['ControlLeft', 'AltRight', 'MetaLeft', 'Enter', 'ArrowUp', 'F25'])
      expect(acceleratorOf({ ...none, code, ctrlKey: true }, false)).toBeNull();
    expect(acceleratorOf({ ...none, code: 'KeyS', shiftKey: true }, false)).toBeNull();
    expect(acceleratorOf({ ...none, code: 'KeyS' }, false)).toBeNull();
  });

  it('are accepted by main, whatever is held', () => {
    for (const code of ['KeyA', 'Digit0', 'F1', 'F24', 'Space']) {
      for (let held = 1; held < 16; held++) {
        const [ctrlKey, altKey, metaKey, shiftKey] = [1, 2, 4, 8].map((bit) => (held & bit) > 0);
        for (const isApple of [true, false]) {
          const keys = acceleratorOf(
            { ...none, code, ctrlKey: !!ctrlKey, altKey: !!altKey, metaKey: !!metaKey, shiftKey: !!shiftKey },
            isApple,
          );
          if (held < 8) expect(ipcArguments.setHotkey.parse(keys)).toBe(keys);
        }
      }
    }
  });

  it('are shown as the keyboard names them', () => {
    expect(keysOf('Control+Alt+Command+S', true)).toBe('⌃⌥⌘S');
    expect(keysOf('Control+Shift+Super+Space', false)).toBe('Ctrl Shift Win Space');
  });
});
