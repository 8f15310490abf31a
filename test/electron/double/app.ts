/** `app`: ready once main has run, one instance per folder, and an end that can be prevented. */
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { asElectron } from './as-electron.ts';
import { protocol } from './engine-of-pages.ts';

type AppMembers =
  | 'whenReady'
  | 'quit'
  | 'exit'
  | 'relaunch'
  | 'setPath'
  | 'getPath'
  | 'getVersion'
  | 'getName'
  | 'getLocale'
  | 'enableSandbox'
  | 'requestSingleInstanceLock'
  | 'getLoginItemSettings'
  | 'setLoginItemSettings'
  | 'setAsDefaultProtocolClient'
  | 'isPackaged'
  | 'resolveProxy'
  | 'setAppLogsPath'
  | 'setAppUserModelId'
  | 'setAboutPanelOptions'
  | 'commandLine'
  | 'dock';

/** The signal from a second instance to the first. electron-store's `conf` raises most other signals a second time. */
const secondInstanceSignal = 'SIGCONT';

class AppDouble extends EventEmitter implements Pick<Electron.App, AppMembers> {
  readonly isPackaged = process.env.DOUBLE_PACKAGED === '1';
  readonly linkSchemes: string[] = [];
  /** What the program names itself to Windows. */
  appUserModelId: string | null = null;
  about: Electron.AboutPanelOptionsOptions | null = null;
  readonly switches: string[] = [];
  readonly commandLine = asElectron<Electron.CommandLine>({
    appendSwitch: (name, value) => void this.switches.push(`${name}=${value}`),
  });
  /** As on macOS only. */
  isInDock = true;
  readonly dock = asElectron<Electron.Dock>({
    show: async () => {
      this.isInDock = true;
    },
    hide: () => {
      this.isInDock = false;
    },
  });
  sandboxIsForced = false;
  #ready = Promise.withResolvers<void>();
  #paths = new Map([['userData', join(homedir(), '.config/sluice')]]);
  #relaunch: Electron.RelaunchOptions | undefined;
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
    if (isPrevented) return;
    this.emit('quit', {}, 0);
    this.exit(0);
  }

  exit(code = 0): void {
    if (this.#lockFile) rmSync(this.#lockFile, { force: true });
    // The relaunch is only recorded, because the test could not end a new process.
    if (this.#relaunch)
      writeFileSync(join(this.getPath('userData'), 'double-relaunch'), JSON.stringify(this.#relaunch));
    process.exit(code);
  }

  relaunch(options: Electron.RelaunchOptions = {}): void {
    this.#relaunch = options;
  }

  setPath(name: string, path: string): void {
    if (!existsSync(path)) throw new Error(`there is no folder ${path}`);
    this.#paths.set(name, path);
  }

  setAppLogsPath(path = join(this.getPath('userData'), 'logs')): void {
    this.#paths.set('logs', path);
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

  /** `DOUBLE_PROXY` is the proxy in the system's settings. */
  async resolveProxy(_url: string): Promise<string> {
    return process.env.DOUBLE_PROXY ?? 'DIRECT';
  }

  setAppUserModelId(id: string): void {
    this.appUserModelId = id;
  }

  setAboutPanelOptions(options: Electron.AboutPanelOptionsOptions): void {
    this.about = options;
  }

  enableSandbox(): void {
    this.sandboxIsForced = true;
  }

  requestSingleInstanceLock(): boolean {
    mkdirSync(this.getPath('userData'), { recursive: true });
    const file = join(this.getPath('userData'), 'double-instance');
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
    } catch {
      tellFirstInstance(file);
      return false;
    }
    this.#lockFile = file;
    process.on(secondInstanceSignal, () => {
      const argv: string[] = JSON.parse(readFileSync(`${file}-argv`, 'utf8'));
      rmSync(`${file}-argv`);
      this.emit('second-instance', {}, argv, '', null);
    });
    return true;
  }

  setAsDefaultProtocolClient(scheme: string): boolean {
    this.linkSchemes.push(scheme);
    return true;
  }

  getLoginItemSettings(): Electron.LoginItemSettings {
    return asElectron<Electron.LoginItemSettings>({ openAtLogin: this.#opensAtLogin, wasOpenedAtLogin: false });
  }

  setLoginItemSettings({ openAtLogin = false }: Electron.Settings): void {
    this.#opensAtLogin = openAtLogin;
  }
}

/** Returns once the first instance has read it, as in Electron. */
function tellFirstInstance(file: string): void {
  const argvFile = `${file}-argv`;
  writeFileSync(argvFile, JSON.stringify(process.argv));
  process.kill(Number(readFileSync(file, 'utf8')), secondInstanceSignal);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync(argvFile)) Atomics.wait(sleeper, 0, 0, 5);
}

export const app = new AppDouble();
