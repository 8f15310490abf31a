/** `app`: ready once main has run, one instance a folder, and an end that can be prevented. */
import { EventEmitter } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { asElectron } from './as-electron.ts';
import { protocol } from './engine-of-pages.ts';

type AppMembers =
  | 'whenReady'
  | 'quit'
  | 'exit'
  | 'setPath'
  | 'getPath'
  | 'getVersion'
  | 'getName'
  | 'getLocale'
  | 'enableSandbox'
  | 'requestSingleInstanceLock'
  | 'getLoginItemSettings'
  | 'setLoginItemSettings'
  | 'isPackaged';

/** How a second program tells the first one. */
const secondInstanceSignal = 'SIGUSR2';

class AppDouble extends EventEmitter implements Pick<Electron.App, AppMembers> {
  readonly isPackaged = false;
  sandboxIsForced = false;
  #ready = Promise.withResolvers<void>();
  #paths = new Map<string, string>();
  #lockFile: string | undefined;
  #opensAtLogin = false;

  becomeReady(): void {
    protocol.appIsReady = true;
    this.#ready.resolve();
  }

  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  quit(): void {
    let isPrevented = false;
    this.emit('before-quit', { preventDefault: () => (isPrevented = true) });
    if (!isPrevented) this.exit(0);
  }

  exit(code = 0): void {
    if (this.#lockFile) rmSync(this.#lockFile, { force: true });
    process.exit(code);
  }

  setPath(name: string, path: string): void {
    this.#paths.set(name, path);
  }

  getPath(name: string): string {
    const path = this.#paths.get(name);
    if (!path) throw new Error(`the double has no path "${name}"`);
    return path;
  }

  getVersion(): string {
    return '0.0.0-double';
  }

  getName(): string {
    return 'sluice';
  }

  getLocale(): string {
    return 'en-GB';
  }

  enableSandbox(): void {
    this.sandboxIsForced = true;
  }

  requestSingleInstanceLock(): boolean {
    const file = join(this.getPath('userData'), 'double-instance');
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
    } catch {
      process.kill(Number(readFileSync(file, 'utf8')), secondInstanceSignal);
      return false;
    }
    this.#lockFile = file;
    process.on(secondInstanceSignal, () => this.emit('second-instance', {}, [], '', null));
    return true;
  }

  getLoginItemSettings(): Electron.LoginItemSettings {
    return asElectron<Electron.LoginItemSettings>({ openAtLogin: this.#opensAtLogin, wasOpenedAtLogin: false });
  }

  setLoginItemSettings({ openAtLogin = false }: Electron.Settings): void {
    this.#opensAtLogin = openAtLogin;
  }
}

export const app = new AppDouble();
