/** Electron's interfaces to the system beyond windows. Each records its use for `controls.ts`. */

import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { type ClientRequest, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { asElectron, asEmitter } from './as-electron.ts';

// `net`, with which electron-updater downloads, and `autoUpdater`, which announces a restart.

/** Has the same members and events as Node's, as far as they are used here. */
export const net: { request(options: RequestOptions & { session: unknown }): ClientRequest } = {
  request: ({ session: _session, ...options }) => request(options),
};

export const autoUpdater = new EventEmitter();

type Template = Electron.MenuItemConstructorOptions[];

export class MenuDouble {
  readonly template: Template;
  /** Checkboxes toggled by a click. Electron toggles them whatever the click's handler does. */
  readonly toggled = new Set<Electron.MenuItemConstructorOptions>();

  constructor(template: Template) {
    this.template = template;
  }

  static application: MenuDouble | null = null;

  static buildFromTemplate(template: Template): MenuDouble {
    return new MenuDouble(template);
  }

  static setApplicationMenu(menu: MenuDouble | null): void {
    MenuDouble.application = menu;
  }
}

class ImageDouble implements Pick<Electron.NativeImage, 'setTemplateImage'> {
  readonly path: string;
  isTemplate = false;

  constructor(path: string) {
    this.path = path;
  }

  setTemplateImage(option: boolean): void {
    this.isTemplate = option;
  }
}

export const nativeImage: Record<'createFromPath', (path: string) => ImageDouble> = {
  /** Electron returns an empty image if the file is missing, which would hide a wrong path here. */
  createFromPath(path) {
    if (!existsSync(path)) throw new Error(`there is no image ${path}`);
    return new ImageDouble(path);
  },
};

/** In the bar at the bottom of the first display below. */
const trayBounds: Electron.Rectangle = { x: 1200, y: 776, width: 24, height: 24 };

/** As in Electron, a tray exists even on a desktop that does not show it (`DOUBLE_TRAY=false`, see `bin/gdbus`). */
export class TrayDouble
  extends EventEmitter
  implements Pick<Electron.Tray, 'setToolTip' | 'setTitle' | 'getBounds' | 'destroy'>
{
  static current: TrayDouble | null = null;
  image: ImageDouble;
  toolTip = '';
  title = '';
  /** The menu that came up at the icon. */
  poppedUp: MenuDouble | null = null;
  menu: MenuDouble | null = null;
  bounds = trayBounds;

  constructor(image: ImageDouble) {
    super();
    this.image = image;
    TrayDouble.current = this;
  }

  setImage(image: ImageDouble): void {
    this.image = image;
  }

  setToolTip(toolTip: string): void {
    this.toolTip = toolTip;
  }

  setTitle(title: string): void {
    this.title = title;
  }

  popUpContextMenu(menu: MenuDouble): void {
    this.poppedUp = menu;
  }

  setContextMenu(menu: MenuDouble | null): void {
    this.menu = menu;
  }

  getBounds(): Electron.Rectangle {
    return this.bounds;
  }

  destroy(): void {
    TrayDouble.current = null;
  }
}

export const shown = {
  notifications: [] as { title: string; body: string; buttons: string[] }[],
  messages: [] as string[],
  external: [] as string[],
  folders: [] as string[],
};

export class NotificationDouble extends EventEmitter implements Pick<Electron.Notification, 'show'> {
  static latest: NotificationDouble | null = null;
  readonly options: Electron.NotificationConstructorOptions;

  constructor(options: Electron.NotificationConstructorOptions) {
    super();
    this.options = options;
  }

  static isSupported(): boolean {
    return true;
  }

  show(): void {
    const { title = '', body = '', actions = [] } = this.options;
    shown.notifications.push({ title, body, buttons: actions.map(({ text = '' }) => text) });
    NotificationDouble.latest = this;
  }
}

/** `DOUBLE_TAKEN_KEYS` are those of other programs, separated by commas. */
class GlobalShortcutDouble implements Pick<Electron.GlobalShortcut, 'register' | 'unregister'> {
  readonly held = new Map<string, () => void>();

  register(accelerator: string, callback: () => void): boolean {
    const isTaken = (process.env.DOUBLE_TAKEN_KEYS ?? '').split(',').includes(accelerator);
    if (isTaken || this.held.has(accelerator)) return false;
    this.held.set(accelerator, callback);
    return true;
  }

  unregister(accelerator: string): void {
    this.held.delete(accelerator);
  }
}
export const globalShortcut = new GlobalShortcutDouble();

let clipboardText = '';
export const clipboard: Pick<Electron.Clipboard, 'writeText' | 'readText'> = {
  writeText: async (text) => {
    clipboardText = text;
  },
  readText: async () => clipboardText,
};

export const dialog = {
  /** The number of the button that the person presses. */
  answer: 0,
  showMessageBoxSync({ message }: Electron.MessageBoxSyncOptions): number {
    shown.messages.push(message);
    return dialog.answer;
  },
  async showMessageBox({ message }: Electron.MessageBoxOptions): Promise<Electron.MessageBoxReturnValue> {
    shown.messages.push(message);
    return { response: 0, checkboxChecked: false };
  },
  /** Written to stderr, where a test can read it after the program has ended. */
  showErrorBox: (title: string, content: string): void => void process.stderr.write(`${title}: ${content}\n`),
};

export const shell: Pick<Electron.Shell, 'openExternal' | 'openPath'> = {
  openExternal: async (url) => void shown.external.push(url),
  openPath: async (path) => {
    shown.folders.push(path);
    return '';
  },
};

/** The second display is to the left of the first. */
const firstDisplay = asElectron<Electron.Display>({
  id: 1,
  bounds: { x: 0, y: 0, width: 1280, height: 800 },
  workArea: { x: 0, y: 0, width: 1280, height: 770 },
});
const secondDisplay = asElectron<Electron.Display>({
  id: 2,
  bounds: { x: -1920, y: 0, width: 1920, height: 1080 },
  workArea: { x: -1920, y: 0, width: 1920, height: 1040 },
});

/** The display that contains most of the rectangle. */
function displayOf({ x, width }: Pick<Electron.Rectangle, 'x' | 'width'>): Electron.Display {
  return x + width / 2 >= 0 ? firstDisplay : secondDisplay;
}

export const cursor = { at: { x: 0, y: 0 } };

export const screen = asEmitter<Electron.Screen>(
  Object.assign(new EventEmitter(), {
    getPrimaryDisplay: () => firstDisplay,
    getDisplayMatching: displayOf,
    getDisplayNearestPoint: ({ x }: Electron.Point) => displayOf({ x, width: 0 }),
    getCursorScreenPoint: () => cursor.at,
  }),
);

export const nativeTheme = asEmitter<Electron.NativeTheme>(
  Object.assign(new EventEmitter(), { shouldUseDarkColors: false }),
);

export const powerMonitor = new EventEmitter();

class UtilityProcessDouble extends EventEmitter implements Pick<Electron.UtilityProcess, 'postMessage' | 'kill'> {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    super();
    this.#child = child;
    child.on('message', (message) => this.emit('message', message));
    child.on('exit', (code) => this.emit('exit', code));
  }

  postMessage(message: unknown): void {
    this.#child.send({ data: message });
  }

  kill(): boolean {
    return this.#child.kill('SIGKILL');
  }
}

export const utilityProcess: { fork(modulePath: string, args: string[]): UtilityProcessDouble } = {
  /** A Node process with `process.parentPort`, as in Electron. */
  fork: (modulePath, args) =>
    new UtilityProcessDouble(
      fork(modulePath, args, {
        execArgv: ['--import', join(import.meta.dirname, 'parent-port.ts')],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      }),
    ),
};
