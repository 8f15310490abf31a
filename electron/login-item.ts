/** "Start at login". Off by default; the operating system's setting is the only state, and is read each time. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { App } from 'electron';
import { GatewayError } from '../server/contract/errors.ts';

export interface LoginItem {
  readonly isOn: boolean;
  /** Throws a GatewayError if the system does not allow the change. */
  set(isOn: boolean): void;
}

/** Starts Sluice in the tray, without opening the window. */
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
 * For Linux, where Electron has no API for this: an entry in the XDG autostart folder.
 *
 * @param program absolute path of the executable, or of the AppImage
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
        const message = error instanceof Error ? error.message : String(error);
        throw new GatewayError('storage_unavailable', `Start at login could not be changed: ${message}`);
      }
    },
  };
}

function writeEntry(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function autostartEntry(program: string): string {
  const quotedProgram = `"${program.replaceAll(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`;
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Sluice',
    `Exec=${quotedProgram} ${hiddenFlag}`,
    'Terminal=false',
    '',
  ].join('\n');
}
