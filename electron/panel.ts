/**
 * The panel at the tray: a frameless window with a page of its own, on macOS and Windows. It exists before the first click,
 * so that this shows it at once. It hides at Escape, which its page takes for closing it, and when the user goes on elsewhere.
 * Its page sees from `document.hidden` whether it is in sight, and asks nothing while it is not.
 */
import { BrowserWindow, type Rectangle, screen, type WebContents } from 'electron';
import { loadPage, type PagePorts, pageOptions, watchPage } from './page-window.ts';
import { computePanelBounds } from './window-bounds.ts';
import { panelUrl } from './window-scheme.ts';

export interface Panel {
  /** Loads the page, out of sight. */
  prepare(): void;
  /** Shows the panel at the tray icon, or hides it. */
  toggle(): void;
  hide(): void;
  end(): void;
  ownsContents(contents: WebContents): boolean;
  /** Calls `action` with the page if it exists. */
  withPage(action: (page: WebContents) => void): void;
}

interface PanelPorts extends PagePorts {
  platform: NodeJS.Platform;
  /** Null if there is no tray. */
  trayBounds(): Rectangle | null;
}

/**
 * A click on the tray takes the focus from the panel, which hides, before the click itself arrives. Within this time it is
 * the same click.
 */
const sameClickMs = 300;

export function createPanel(ports: PanelPorts): Panel {
  let current: BrowserWindow | null = null;
  let leftAtMs = Number.NEGATIVE_INFINITY;
  const prepare = () => {
    if (current) return current;
    const window = createWindow(ports);
    current = window;
    watchPage(window, ports);
    window.on('blur', () => {
      if (!window.isVisible()) return;
      leftAtMs = performance.now();
      window.hide();
    });
    window.on('close', (event) => {
      // Out of sight, it is the end of Sluice.
      if (!window.isVisible()) return;
      event.preventDefault();
      window.hide();
    });
    window.on('closed', () => {
      current = null;
    });
    loadPage(window, panelUrl);
    return window;
  };
  const show = () => {
    const window = prepare();
    const tray = ports.trayBounds();
    const display = tray?.width
      ? screen.getDisplayMatching(tray)
      : screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
    window.setBounds(computePanelBounds(tray, display.workArea));
    window.show();
    window.focus();
  };
  return {
    prepare: () => void prepare(),
    toggle() {
      const isSameClick = performance.now() - leftAtMs < sameClickMs;
      leftAtMs = Number.NEGATIVE_INFINITY;
      if (current?.isVisible()) current.hide();
      else if (!isSameClick) show();
    },
    hide: () => current?.hide(),
    // Nothing is typed in it that could be lost.
    end: () => current?.destroy(),
    ownsContents: (contents) => current?.webContents === contents,
    withPage: (action) => current && action(current.webContents),
  };
}

function createWindow({ platform, preload }: PanelPorts): BrowserWindow {
  return new BrowserWindow({
    ...pageOptions({ preload }),
    ...computePanelBounds(null, screen.getPrimaryDisplay().workArea),
    frame: false,
    resizable: false,
    minimizable: false,
    maximizable: false,
    fullscreenable: false,
    skipTaskbar: true,
    alwaysOnTop: true,
    // Over a program in full screen, and on the desktop where the user is.
    ...(platform === 'darwin' && { type: 'panel' }),
    // Otherwise its page would take itself for visible until it is hidden for the first time.
    paintWhenInitiallyHidden: false,
  });
}
