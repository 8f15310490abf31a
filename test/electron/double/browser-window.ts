/** `BrowserWindow` and its `webContents`, each over a page in a real Chromium. */
import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import { app } from './app.ts';
import { asElectron, asEmitter } from './as-electron.ts';
import { ChromiumPage } from './chromium-page.ts';
import { ipcMain } from './engine-of-pages.ts';
import { TrayDouble } from './system.ts';
import type { FromPreload } from './worlds.ts';

type OpenHandler = Parameters<Electron.WebContents['setWindowOpenHandler']>[0];

class WebContentsDouble
  extends EventEmitter
  implements Pick<Electron.WebContents, 'getURL' | 'isDestroyed' | 'send' | 'setWindowOpenHandler' | 'mainFrame'>
{
  page: ChromiumPage | undefined;
  isGone = false;
  openHandler: OpenHandler | undefined;
  readonly mainFrame: Electron.WebFrameMain = asEmitter<Electron.WebFrameMain>(
    Object.defineProperty(new EventEmitter(), 'url', { get: () => this.getURL() }),
  );

  getURL(): string {
    return this.page?.address ?? '';
  }

  isDestroyed(): boolean {
    return this.isGone;
  }

  send(channel: string, ...args: unknown[]): void {
    this.page?.send(channel, args);
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }

  asElectron(): Electron.WebContents {
    return asEmitter<Electron.WebContents>(this);
  }
}

/** The sender of a message. Default: the page itself. */
interface Sender {
  frame?: Electron.WebFrameMain | null;
  contents?: Electron.WebContents;
}

export async function invoke(
  window: BrowserWindowDouble,
  { channel, args }: Omit<FromPreload, 'id'>,
  from: Sender = {},
) {
  const handler = ipcMain.handlers.get(channel);
  if (!handler) throw new Error(`No handler registered for '${channel}'`);
  const { frame = window.webContents.mainFrame, contents = window.webContents.asElectron() } = from;
  return handler(asElectron<Electron.IpcMainInvokeEvent>({ sender: contents, senderFrame: frame }), ...args);
}

type WindowMembers =
  | 'loadURL'
  | 'show'
  | 'hide'
  | 'isVisible'
  | 'focus'
  | 'isFocused'
  | 'setMenuBarVisibility'
  | 'isMinimized'
  | 'isFullScreen'
  | 'setFullScreen'
  | 'restore'
  | 'close'
  | 'destroy'
  | 'getNormalBounds'
  | 'setBounds';

export class BrowserWindowDouble extends EventEmitter implements Pick<Electron.BrowserWindow, WindowMembers> {
  static readonly all = new Set<BrowserWindowDouble>();
  readonly options: Electron.BrowserWindowConstructorOptions;
  readonly webContents = new WebContentsDouble();
  bounds: Electron.Rectangle;
  isShown = false;
  hasMenuBar = true;
  /** What main has loaded. An address that is shown already would be loaded anew, as if typed into an address bar. */
  readonly loads: string[] = [];
  /** The channels of its page's calls so far. */
  readonly calls: string[] = [];
  readonly trayWhenOpened = TrayDouble.current?.toolTip ?? null;
  #isFocused = false;
  #isFullScreen = false;
  readonly #opened: Promise<ChromiumPage>;

  constructor(options: Electron.BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.bounds = { x, y, width, height };
    BrowserWindowDouble.all.add(this);
    app.emit('web-contents-created', {}, this.webContents);
    app.emit('browser-window-created', {}, this);
    this.#opened = this.#open();
  }

  async loadURL(url: string): Promise<void> {
    this.loads.push(url);
    const page = await this.#opened;
    await page.load(url, this.bounds);
    if (!this.isShown && this.options.paintWhenInitiallyHidden !== false) this.emit('ready-to-show');
  }

  show(): void {
    this.isShown = true;
    this.#follow(true);
  }

  isVisible(): boolean {
    return this.isShown;
  }

  /** In full screen, macOS leaves a black screen instead. */
  hide(): void {
    if (this.#isFullScreen) return;
    this.isShown = false;
    this.#isFocused = false;
    this.#follow(false);
  }

  /** The page sees from `document.hidden` whether its window is shown. */
  #follow(isVisible: boolean): void {
    void this.#opened.then((page) => page.setVisible(isVisible)).catch(() => {});
  }

  focus(): void {
    this.#isFocused = true;
  }

  isFocused(): boolean {
    return this.#isFocused;
  }

  /** As if the person went on to work in another program. */
  blur(): void {
    this.#isFocused = false;
    this.emit('blur');
  }

  setMenuBarVisibility(visible: boolean): void {
    this.hasMenuBar = visible;
  }

  isFullScreen(): boolean {
    return this.#isFullScreen;
  }

  /** macOS needs a moment for it. */
  setFullScreen(flag: boolean): void {
    this.#isFullScreen = flag;
    if (!flag) setImmediate(() => this.emit('leave-full-screen'));
  }

  isMinimized(): boolean {
    return false;
  }

  restore(): void {}

  close(): void {
    let isPrevented = false;
    this.emit('close', { preventDefault: () => (isPrevented = true) });
    if (!isPrevented) this.destroy();
  }

  destroy(): void {
    if (!BrowserWindowDouble.all.delete(this)) return;
    this.webContents.isGone = true;
    void this.#opened.then((page) => page.close()).catch(() => {});
    this.emit('closed');
    if (BrowserWindowDouble.all.size > 0) return;
    // If main has no listener, Electron's default is to quit.
    if (!app.emit('window-all-closed')) app.quit();
  }

  getNormalBounds(): Electron.Rectangle {
    return this.bounds;
  }

  setBounds(bounds: Partial<Electron.Rectangle>): void {
    this.bounds = { ...this.bounds, ...bounds };
  }

  async #open(): Promise<ChromiumPage> {
    const { webContents } = this;
    const { webPreferences, paintWhenInitiallyHidden = true } = this.options;
    const page = await ChromiumPage.open(webPreferences?.preload ?? '', paintWhenInitiallyHidden, {
      mayNavigate: (url, isMainFrame) => {
        let isPrevented = false;
        webContents.emit('will-frame-navigate', { url, isMainFrame, preventDefault: () => (isPrevented = true) });
        return !isPrevented;
      },
      navigating: () => webContents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false }),
      opens: (url) => webContents.openHandler?.(asElectron<Electron.HandlerDetails>({ url })),
      invoked: (message) => {
        this.calls.push(message.channel);
        return invoke(this, message);
      },
      closes: () => this.close(),
      crashed: () => webContents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 }),
      closed: () => this.destroy(),
    });
    webContents.page = page;
    return page;
  }
}
