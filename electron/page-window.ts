/** What the windows have in common: a page that sees nothing of Electron, and what is noticed about it. */
import { type BrowserWindow, type BrowserWindowConstructorOptions, nativeTheme, type WebContents } from 'electron';

export interface PagePorts {
  preload: string;
  /** Called when the page has been closed, has crashed or loads another document. */
  onPageGone(page: WebContents): void;
  /** Called when the page's process has crashed. The gateway is not affected. */
  onCrash(reason: string): void;
}

const backgrounds = { light: '#ffffff', dark: '#242424' };

export function pageOptions({ preload }: Pick<PagePorts, 'preload'>): BrowserWindowConstructorOptions {
  return {
    title: 'Sluice',
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? backgrounds.dark : backgrounds.light,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  };
}

/** Ignores errors: loading is aborted when another page is loaded or the window is closed. */
export function loadPage(window: BrowserWindow, url: string): void {
  window.loadURL(url).catch(() => {});
}

/** A window whose page has crashed is destroyed; the next one has a new page. */
export function watchPage(window: BrowserWindow, { onPageGone, onCrash }: PagePorts): void {
  const page = window.webContents;
  page.on('did-start-navigation', (details) => {
    if (details.isMainFrame && !details.isSameDocument) onPageGone(page);
  });
  page.on('render-process-gone', (_event, { reason }) => {
    onCrash(reason);
    window.destroy();
  });
  window.on('closed', () => onPageGone(page));
}
