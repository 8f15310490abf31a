/** Start at login: off until somebody asks for it, and then as it is set in the system, which is asked each time. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from 'electron';

export interface LoginItem {
  readonly isOn: boolean;
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
      if (!isOn) return rmSync(path, { force: true });
      mkdirSync(autostartFolder, { recursive: true });
      writeFileSync(path, autostartEntry(program));
    },
  };
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
