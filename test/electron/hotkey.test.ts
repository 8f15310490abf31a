import { describe, expect, it } from 'vitest';
import { createHotkey } from '../../electron/hotkey.ts';
import type { DesktopSettings } from '../../electron/settings-store.ts';
import { GatewayError } from '../../server/contract/errors.ts';
import { ipcArguments } from '../../server/contract/ipc-arguments.ts';

/** Keys of other programs. */
const taken = 'Control+Alt+T';

function create(chosen: string | null, update = (_changes: Partial<DesktopSettings>) => {}) {
  let current: DesktopSettings = { notifications: {}, language: null, hotkey: chosen, trayCost: false, places: {} };
  const held = new Map<string, () => void>();
  let presses = 0;
  const hotkey = createHotkey({
    globalShortcut: {
      register(keys, callback) {
        if (keys === 'Control+None') throw new TypeError('Error processing argument at index 0');
        if (keys === taken || held.has(keys)) return false;
        held.set(keys, callback);
        return true;
      },
      unregister: (keys) => void held.delete(keys),
    },
    settings: {
      get current() {
        return current;
      },
      update(changes) {
        update(changes);
        current = { ...current, ...changes };
      },
    },
    onPress: () => presses++,
  });
  return { hotkey, held: () => [...held.keys()], press: (keys: string) => held.get(keys)?.(), presses: () => presses };
}

describe('the hotkey', () => {
  it('is none until one is chosen', () => {
    const { hotkey, held } = create(null);
    expect(held()).toEqual([]);
    expect(hotkey.view).toEqual({ keys: null, isTaken: false });
  });

  it('takes the chosen keys, in place of earlier ones, and leaves them at the end', () => {
    const { hotkey, held, press, presses } = create('Control+Alt+S');
    hotkey.choose('Control+Shift+Space');
    expect(held()).toEqual(['Control+Shift+Space']);
    press('Control+Shift+Space');
    expect(presses()).toBe(1);
    hotkey.choose(null);
    expect(held()).toEqual([]);
    hotkey.choose('Alt+F5');
    hotkey.close();
    expect(held()).toEqual([]);
  });

  it.each([taken, 'Control+None'])('stays as it was if another program has the new keys (%s), and says so', (keys) => {
    const { hotkey, held } = create('Control+Alt+S');
    expect(() => hotkey.choose(keys)).toThrow(
      expect.objectContaining({ problem: { code: 'hotkey-taken', keys } }) satisfies GatewayError,
    );
    expect(held()).toEqual(['Control+Alt+S']);
    expect(hotkey.view).toEqual({ keys: 'Control+Alt+S', isTaken: false });
  });

  it('stays as it was if the choice cannot be written', () => {
    const { hotkey, held } = create('Control+Alt+S', () => {
      throw new GatewayError('storage_unavailable', 'The disk is full.');
    });
    expect(() => hotkey.choose('Alt+F5')).toThrow('The disk is full.');
    expect(held()).toEqual(['Control+Alt+S']);
  });

  it('that another program took before the start is kept, and told', () => {
    const { hotkey, held } = create(taken);
    expect(held()).toEqual([]);
    expect(hotkey.view).toEqual({ keys: taken, isTaken: true });
  });

  it('takes no key from other programs with Shift alone, or with nothing held', () => {
    const isAccepted = (keys: unknown) => ipcArguments.setHotkey.safeParse(keys).success;
    for (const keys of [null, 'Control+Alt+S', 'Command+Shift+K', 'Alt+F5', 'Super+Space', 'Control+1'])
      expect(isAccepted(keys)).toBe(true);
    for (const keys of [
      'S',
      'Shift+S',
      'Control',
      'Control+',
      'Control+Alt',
      '',
      'F5',
      'Control+S+',
      7,
      `Control+${'A'.repeat(99)}`,
    ])
      expect(isAccepted(keys)).toBe(false);
  });
});
