/** Start at login: off by default. The system's setting is authoritative and is read each time. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { App } from 'electron';
import { GatewayError } from '../server/contract/errors.ts';

export interface LoginItem {
  readonly isOn: boolean;
  /** Throws a GatewayError if the system does not let it. */
  set(isOn: boolean): void;
}

/** With it the program begins in the tray, without its window. */
export const hiddenFlag = '--hidden';

export function createLoginItem(app: Pick<App, 'getLoginItemSettings' | 'setLoginItemSettings'>): LoginItem {
  const args = [hiddenFlag];
  return {
    get isOn() {
      return app.getLoginItemSettings({ args }).openAtLogin;
    },
    set: (isOn) => app.setLoginItemSettings({ openAtLogin: isOn, args }),
  };
}

/**
 * For Linux, where Electron has no way: an entry of the XDG autostart folder.
 *
 * @param program absolute path of what starts Sluice: the AppImage where it is one
 */
export function createAutostartEntry(autostartFolder: string, program: string): LoginItem {
  const path = join(autostartFolder, 'sluice.desktop');
  return {
    get isOn() {
      return existsSync(path);
    },
    set(isOn) {
      try {
        if (isOn) writeEntry(path, autostartEntry(program));
        else rmSync(path, { force: true });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new GatewayError('storage_unavailable', `Start at login could not be changed: ${why}`);
      }
    },
  };
}

function writeEntry(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function autostartEntry(program: string): string {
  const quoted = `"${program.replaceAll(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`;
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Sluice',
    `Exec=${quoted} ${hiddenFlag}`,
    'Terminal=false',
    '',
  ].join('\n');
}
