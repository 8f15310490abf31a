/**
 * The application's only window. It opens next to the tray, is destroyed when closed so that its memory is freed, and
 * remembers its bounds for each display.
 */
import { BrowserWindow, nativeTheme, type Rectangle, screen, type WebContents } from 'electron';
import type { DesktopSettingsStore } from './settings-store.ts';
import { placeWindow } from './window-place.ts';
import { windowUrl } from './window-scheme.ts';

export interface WindowKeeper {
  readonly isOpen: boolean;
  /** Opens the window or brings it to the front, and shows the screen `path` if given. */
  open(path?: string): void;
  close(): void;
  isOurs(contents: WebContents): boolean;
  /** Calls `act` with the page if the window is open. */
  withPage(act: (page: WebContents) => void): void;
}

interface WindowPorts {
  preload: string;
  settings: DesktopSettingsStore;
  /** Null if there is no tray. */
  trayBounds(): Rectangle | null;
  /** Called when the page has been closed, has crashed or loads another document. */
  pageGone(page: WebContents): void;
  /** Called when the page's process has crashed. The gateway is not affected. */
  crashed(reason: string): void;
  openChanged(isOpen: boolean): void;
  /** Asks the user whether unsaved changes may be discarded. */
  mayDiscardEdits(): boolean;
}

/** The smallest size that the page supports. */
const smallest = { minWidth: 380, minHeight: 420 };
const backgrounds = { light: '#ffffff', dark: '#242424' };

export function createWindowKeeper(ports: WindowPorts): WindowKeeper {
  let current: BrowserWindow | null = null;
  const create = (path: string) => {
    const window = createWindow(ports);
    current = window;
    const page = window.webContents;
    watchPage(window, ports);
    rememberWhereMoved(window, ports.settings);
    window.on('closed', () => {
      current = null;
      ports.pageGone(page);
      ports.openChanged(false);
    });
    ports.openChanged(true);
    load(window, path);
  };
  return {
    get isOpen() {
      return current !== null;
    },
    open(path) {
      if (!current) return create(path ?? '/');
      if (path) load(current, path);
      if (current.isMinimized()) current.restore();
      current.show();
      current.focus();
    },
    close: () => current?.close(),
    isOurs: (contents) => current?.webContents === contents,
    withPage: (act) => current && act(current.webContents),
  };
}

function createWindow({ preload, settings, trayBounds }: WindowPorts): BrowserWindow {
  const tray = trayBounds();
  const display = tray?.width
    ? screen.getDisplayMatching(tray)
    : screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
  return new BrowserWindow({
    ...placeWindow(tray, display.workArea, settings.current.places[display.id]),
    ...smallest,
    title: 'Sluice',
    show: false,
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? backgrounds.dark : backgrounds.light,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
}

/** Ignores errors: loading is aborted when another page is loaded or the window is closed. */
function load(window: BrowserWindow, path: string): void {
  window.loadURL(windowUrl(path)).catch(() => {});
}

function watchPage(window: BrowserWindow, { pageGone, crashed, mayDiscardEdits }: WindowPorts): void {
  const page = window.webContents;
  // Unlike a browser, Electron does not ask the user: a page that prevents unloading would never close.
  page.on('will-prevent-unload', (event) => {
    if (mayDiscardEdits()) event.preventDefault();
  });
  page.on('did-start-navigation', (details) => {
    if (details.isMainFrame && !details.isSameDocument) pageGone(page);
  });
  page.on('render-process-gone', (_event, { reason }) => {
    crashed(reason);
    window.destroy();
  });
}

/** Remembers the bounds only if the user has moved or resized the window; otherwise it opens next to the tray again. */
function rememberWhereMoved(window: BrowserWindow, settings: WindowPorts['settings']): void {
  // The actual bounds, which may differ from those requested.
  let opened = window.getNormalBounds();
  window.once('ready-to-show', () => {
    window.show();
    opened = window.getNormalBounds();
  });
  window.on('close', () => {
    const bounds = window.getNormalBounds();
    if (isSame(bounds, opened)) return;
    const { id } = screen.getDisplayMatching(bounds);
    settings.remember({ places: { ...settings.current.places, [id]: bounds } });
  });
}

function isSame(one: Rectangle, other: Rectangle): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}
