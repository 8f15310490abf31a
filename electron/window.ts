/**
 * The main window. It opens in the middle of the display where the person is, and remembers its bounds for each display.
 * Closing hides it, so that it is back at once with what was typed in it; only the end of Sluice destroys it.
 */
import { BrowserWindow, type Rectangle, screen, type WebContents } from 'electron';
import { loadPage, type PagePorts, pageOptions, watchPage } from './page-window.ts';
import type { DesktopSettingsStore } from './settings-store.ts';
import { computeWindowBounds } from './window-bounds.ts';
import { windowUrl } from './window-scheme.ts';

export interface WindowManager {
  readonly isShown: boolean;
  /** Shows the window, creates it first if there is none, and shows the screen `path` if given. */
  open(path?: string): void;
  hide(): void;
  /** Hides the window if the user works in it, and otherwise shows it. */
  toggle(): void;
  /** Destroys the window, after asking about unsaved changes. The next `open` creates a new one. */
  end(): void;
  ownsContents(contents: WebContents): boolean;
  /** Calls `action` with the page if there is a window, shown or hidden. */
  withPage(action: (page: WebContents) => void): void;
}

interface WindowPorts extends PagePorts {
  settings: Pick<DesktopSettingsStore, 'current' | 'remember'>;
  onShownChange(isShown: boolean): void;
  /** Asks the user whether unsaved changes may be discarded. */
  mayDiscardEdits(): boolean;
}

/** The smallest size that the page supports. */
const minimumSize = { minWidth: 420, minHeight: 560 };

export function createWindowManager(ports: WindowPorts): WindowManager {
  let current: MainWindow | null = null;
  const create = (path: string) => {
    current = openMainWindow(ports, path, () => {
      current = null;
    });
  };
  const open = (path?: string) => {
    if (!current) return create(path ?? '/');
    if (path) goTo(current.window, path);
    current.show();
  };
  return {
    get isShown() {
      return current?.isShown ?? false;
    },
    open,
    hide: () => current?.hide(),
    toggle() {
      if (current?.isShown && current.window.isFocused()) current.hide();
      else open();
    },
    end: () => current?.end(),
    ownsContents: (contents) => current?.window.webContents === contents,
    withPage: (action) => current && action(current.window.webContents),
  };
}

/** Not if the screen is shown already: Electron would load the page anew, and lose what was typed there. */
function goTo(window: BrowserWindow, path: string): void {
  const url = windowUrl(path);
  if (window.webContents.getURL() !== url) loadPage(window, url);
}

interface MainWindow {
  readonly window: BrowserWindow;
  readonly isShown: boolean;
  show(): void;
  hide(): void;
  end(): void;
}

function openMainWindow(ports: WindowPorts, path: string, onClosed: () => void): MainWindow {
  const window = createWindow(ports);
  const page = window.webContents;
  const place = createPlaceMemory(window, ports.settings);
  let isShown = true;
  let isEnding = false;
  const setShown = (next: boolean) => {
    if (next === isShown) return;
    isShown = next;
    ports.onShownChange(next);
  };
  const show = () => {
    if (!isShown) place.restore();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
    setShown(true);
  };
  const hide = () => {
    place.remember();
    setShown(false);
    hideFromFullScreen(window);
  };
  window.once('ready-to-show', () => {
    if (isShown) window.show();
    place.begin();
  });
  window.on('close', (event) => {
    place.remember();
    if (isEnding) return;
    event.preventDefault();
    hide();
  });
  window.on('closed', () => {
    onClosed();
    setShown(false);
  });
  // Unlike a browser, Electron does not ask the user: a page that prevents unloading would never close.
  page.on('will-prevent-unload', (event) => {
    if (ports.mayDiscardEdits()) return event.preventDefault();
    isEnding = false;
    show();
  });
  watchPage(window, ports);
  ports.onShownChange(true);
  loadPage(window, windowUrl(path));
  return {
    window,
    get isShown() {
      return isShown;
    },
    show,
    hide,
    end() {
      isEnding = true;
      window.close();
    },
  };
}

function createWindow({ preload, settings }: WindowPorts): BrowserWindow {
  const window = new BrowserWindow({
    ...pageOptions({ preload }),
    ...boundsWhereThePersonIs(settings),
    ...minimumSize,
  });
  // The menu's shortcuts work without its bar. Hidden by itself only, the bar would come up with each press of Alt.
  window.setMenuBarVisibility(false);
  return window;
}

/** The cursor is where the person is: at the dock, the tray, or a link. */
function boundsWhereThePersonIs(settings: WindowPorts['settings']): Rectangle {
  const { id, workArea } = screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
  return computeWindowBounds(workArea, settings.current.places[id]);
}

/** On macOS, hiding a window in full screen leaves a black screen (electron#20263). */
function hideFromFullScreen(window: BrowserWindow): void {
  if (window.isFullScreen()) {
    window.once('leave-full-screen', () => window.hide());
    window.setFullScreen(false);
  } else window.hide();
}

interface PlaceMemory {
  /** The window is shown for the first time. */
  begin(): void;
  /** Remembers where the window is, but only if the user has moved or resized it. */
  remember(): void;
  /** Moves the window to the display where the person is now, unless it is there already. */
  restore(): void;
}

function createPlaceMemory(window: BrowserWindow, settings: WindowPorts['settings']): PlaceMemory {
  // The actual bounds, which may differ from those requested.
  let initialBounds = window.getNormalBounds();
  return {
    begin() {
      initialBounds = window.getNormalBounds();
    },
    remember() {
      const bounds = window.getNormalBounds();
      if (isSame(bounds, initialBounds)) return;
      initialBounds = bounds;
      const { id } = screen.getDisplayMatching(bounds);
      settings.remember({ places: { ...settings.current.places, [id]: bounds } });
    },
    restore() {
      const there = screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
      if (there.id === screen.getDisplayMatching(window.getNormalBounds()).id) return;
      window.setBounds(boundsWhereThePersonIs(settings));
      initialBounds = window.getNormalBounds();
    },
  };
}

function isSame(one: Rectangle, other: Rectangle): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}
