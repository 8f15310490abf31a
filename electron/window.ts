/**
 * The application's only window. It opens next to the tray, is destroyed when closed so that its memory is freed, and
 * remembers its bounds for each display.
 */
import { BrowserWindow, nativeTheme, type Rectangle, screen, type WebContents } from 'electron';
import type { DesktopSettingsStore } from './settings-store.ts';
import { computeWindowBounds } from './window-bounds.ts';
import { windowUrl } from './window-scheme.ts';

export interface WindowManager {
  readonly isOpen: boolean;
  /** Opens the window or brings it to the front, and shows the screen `path` if given. */
  open(path?: string): void;
  close(): void;
  ownsContents(contents: WebContents): boolean;
  /** Calls `action` with the page if the window is open. */
  withPage(action: (page: WebContents) => void): void;
}

interface WindowPorts {
  preload: string;
  settings: DesktopSettingsStore;
  /** Null if there is no tray. */
  trayBounds(): Rectangle | null;
  /** Called when the page has been closed, has crashed or loads another document. */
  onPageGone(page: WebContents): void;
  /** Called when the page's process has crashed. The gateway is not affected. */
  onCrash(reason: string): void;
  onOpenChange(isOpen: boolean): void;
  /** Asks the user whether unsaved changes may be discarded. */
  mayDiscardEdits(): boolean;
}

/** The smallest size that the page supports. */
const minimumSize = { minWidth: 380, minHeight: 420 };
const backgrounds = { light: '#ffffff', dark: '#242424' };

export function createWindowManager(ports: WindowPorts): WindowManager {
  let current: BrowserWindow | null = null;
  const create = (path: string) => {
    const window = createWindow(ports);
    current = window;
    const page = window.webContents;
    watchPage(window, ports);
    rememberMovedBounds(window, ports.settings);
    window.on('closed', () => {
      current = null;
      ports.onPageGone(page);
      ports.onOpenChange(false);
    });
    ports.onOpenChange(true);
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
    ownsContents: (contents) => current?.webContents === contents,
    withPage: (action) => current && action(current.webContents),
  };
}

function createWindow({ preload, settings, trayBounds }: WindowPorts): BrowserWindow {
  const tray = trayBounds();
  const display = tray?.width
    ? screen.getDisplayMatching(tray)
    : screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
  return new BrowserWindow({
    ...computeWindowBounds(tray, display.workArea, settings.current.places[display.id]),
    ...minimumSize,
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

function watchPage(window: BrowserWindow, { onPageGone, onCrash, mayDiscardEdits }: WindowPorts): void {
  const page = window.webContents;
  // Unlike a browser, Electron does not ask the user: a page that prevents unloading would never close.
  page.on('will-prevent-unload', (event) => {
    if (mayDiscardEdits()) event.preventDefault();
  });
  page.on('did-start-navigation', (details) => {
    if (details.isMainFrame && !details.isSameDocument) onPageGone(page);
  });
  page.on('render-process-gone', (_event, { reason }) => {
    onCrash(reason);
    window.destroy();
  });
}

/** Remembers the bounds only if the user has moved or resized the window; otherwise it opens next to the tray again. */
function rememberMovedBounds(window: BrowserWindow, settings: WindowPorts['settings']): void {
  // The actual bounds, which may differ from those requested.
  let initialBounds = window.getNormalBounds();
  window.once('ready-to-show', () => {
    window.show();
    initialBounds = window.getNormalBounds();
  });
  window.on('close', () => {
    const bounds = window.getNormalBounds();
    if (isSame(bounds, initialBounds)) return;
    const { id } = screen.getDisplayMatching(bounds);
    settings.remember({ places: { ...settings.current.places, [id]: bounds } });
  });
}

function isSame(one: Rectangle, other: Rectangle): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}
