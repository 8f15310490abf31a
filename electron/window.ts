/**
 * The one window: opened at the tray, destroyed when it is closed, so that its memory is given back, and its place kept
 * by display. Owns what a page of ours is allowed to be; must not know what it shows.
 */
import { BrowserWindow, nativeTheme, type Rectangle, screen, type WebContents } from 'electron';
import type { DesktopSettingsStore } from './settings-store.ts';
import { placeWindow } from './window-place.ts';
import { windowUrl } from './window-scheme.ts';

export interface WindowKeeper {
  readonly isOpen: boolean;
  /** Brings it to the front, with that screen if one is named. */
  open(path?: string): void;
  close(): void;
  isOurs(contents: WebContents): boolean;
  /** Calls back for the page of an open window. */
  withPage(act: (page: WebContents) => void): void;
}

interface WindowPorts {
  preload: string;
  settings: DesktopSettingsStore;
  /** Null if there is no tray. */
  trayBounds(): Rectangle | null;
  /** The page is there no longer: closed, crashed, or another document is being loaded. */
  pageGone(page: WebContents): void;
  /** Only logged; the gateway is not affected. */
  crashed(reason: string): void;
  openChanged(isOpen: boolean): void;
  /** Asks the person whether what was typed and not saved may be lost. */
  mayDiscardEdits(): boolean;
}

/** The narrowest that the page is made for. */
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

/** A load that is aborted by the next one, or by closing the window, is not an error. */
function load(window: BrowserWindow, path: string): void {
  window.loadURL(windowUrl(path)).catch(() => {});
}

function watchPage(window: BrowserWindow, { pageGone, crashed, mayDiscardEdits }: WindowPorts): void {
  const page = window.webContents;
  // Unlike a browser, Electron does not ask the user: a page that prevents unloading could never be closed.
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

/** Only a window that a person moved or resized: any other one opens at the tray again. */
function rememberWhereMoved(window: BrowserWindow, settings: WindowPorts['settings']): void {
  // The actual place that the system assigned.
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
