/** The keys that show or hide the window from anywhere. None until the user has chosen some. */
import type { GlobalShortcut } from 'electron';
import { GatewayError } from '../server/contract/errors.ts';
import type { HotkeyView } from '../server/contract/ipc.ts';
import type { DesktopSettingsStore } from './settings-store.ts';

export interface Hotkey {
  readonly view: HotkeyView;
  /**
   * Takes these keys (an Electron accelerator) and leaves the old ones; null leaves them only. Throws a GatewayError if
   * another program has them, or the choice cannot be written; the old ones stay then.
   */
  choose(keys: string | null): void;
  /** Leaves the keys to others when Sluice ends. */
  close(): void;
}

interface HotkeyPorts {
  globalShortcut: Pick<GlobalShortcut, 'register' | 'unregister'>;
  settings: Pick<DesktopSettingsStore, 'current' | 'update'>;
  onPress(): void;
}

export function createHotkey({ globalShortcut, settings, onPress }: HotkeyPorts): Hotkey {
  /** The keys that are registered now. */
  let held: string | null = null;
  const hold = (keys: string) => {
    if (!isRegistered(globalShortcut, keys, onPress)) return false;
    held = keys;
    return true;
  };
  const release = () => {
    if (held !== null) globalShortcut.unregister(held);
    held = null;
  };
  const chosen = settings.current.hotkey;
  if (chosen !== null) hold(chosen);
  return {
    get view() {
      const { hotkey } = settings.current;
      return { keys: hotkey, isTaken: hotkey !== null && held !== hotkey };
    },
    choose(keys) {
      const before = held;
      release();
      try {
        if (keys !== null && !hold(keys)) throw taken(keys);
        settings.update({ hotkey: keys });
      } catch (error) {
        release();
        if (before !== null) hold(before);
        throw error;
      }
    },
    close: release,
  };
}

function taken(keys: string): GatewayError {
  const message = `Another program uses ${keys}, or the system keeps it for itself.`;
  return new GatewayError('invalid_value', message, { problem: { code: 'hotkey-taken', keys } });
}

/** `register` returns false for keys that are taken, and throws for those that it cannot read. */
function isRegistered(globalShortcut: HotkeyPorts['globalShortcut'], keys: string, onPress: () => void): boolean {
  try {
    return globalShortcut.register(keys, onPress);
  } catch {
    return false;
  }
}
