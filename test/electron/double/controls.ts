/** Lets a test act on a desktop in the double and inspect it, over the child process's channel. */
import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type * as Electron from 'electron';
import { app } from './app.ts';
import { asEmitter } from './as-electron.ts';
import { BrowserWindowDouble, invoke } from './browser-window.ts';
import { defaultSession, protocol } from './engine-of-pages.ts';
import {
  clipboard,
  cursor,
  dialog,
  globalShortcut,
  MenuDouble,
  NotificationDouble,
  powerMonitor,
  shown,
  TrayDouble,
} from './system.ts';

interface MenuLine {
  id: string;
  label: string;
  /** The state that main has set. */
  checked: boolean | null;
  /** The state that the person sees. */
  looksChecked: boolean;
  enabled: boolean;
}

export interface DesktopState {
  tray: { icon: string; toolTip: string; title: string; menu: MenuLine[]; hasPoppedUp: boolean } | null;
  /** The frameless window at the tray; null if there is none. */
  panel: {
    url: string;
    isShown: boolean;
    bounds: Electron.Rectangle;
    calls: string[];
    preferences: Electron.WebPreferences;
  } | null;
  /** The application's menu: labels of its items, or their roles. */
  applicationMenu: { label: string; items: string[] }[];
  about: Electron.AboutPanelOptionsOptions | null;
  appUserModelId: string | null;
  isInDock: boolean;
  /** The keys that the desktop takes from every program. */
  hotkeys: string[];
  windows: {
    url: string;
    isShown: boolean;
    hasMenuBar: boolean;
    loads: string[];
    /** The tray's state at that time. */
    trayWhenOpened: string | null;
    bounds: Electron.Rectangle;
    preferences: Electron.WebPreferences;
  }[];
  clipboard: string;
  sandboxIsForced: boolean;
  schemes: Electron.CustomScheme[];
  /** The schemes of links that the system opens with this program. */
  linkSchemes: string[];
  shown: typeof shown;
}

interface PermissionOrder {
  name: 'clipboard-sanitized-write' | 'media' | 'notifications';
  url: string;
  /** Only for `media`. */
  media?: readonly ('audio' | 'video')[];
  /** The person's latest input in the page. */
  pressed?: Electron.InputEvent['type'];
}

interface InvokeOrder {
  channel: string;
  args: unknown[];
  /**
   * `page` is the window's own page. The others are a frame with this URL in the window, and a page that is not one of
   * Sluice's windows.
   */
  from: 'page' | 'frame' | 'elsewhere';
  url?: string;
}

const controls = {
  state: async (): Promise<DesktopState> => ({
    tray: describeTray(),
    applicationMenu: (MenuDouble.application?.template ?? []).map(({ label = '', submenu }) => ({
      label,
      items: Array.isArray(submenu) ? submenu.map(describeMenuItem) : [],
    })),
    about: app.about,
    appUserModelId: app.appUserModelId,
    isInDock: app.isInDock,
    hotkeys: [...globalShortcut.held.keys()],
    panel: describePanel(),
    windows: framed().map(({ webContents, isShown, hasMenuBar, loads, trayWhenOpened, bounds, options }) => ({
      ...{ url: webContents.getURL(), isShown, hasMenuBar, loads, trayWhenOpened, bounds },
      preferences: options.webPreferences ?? {},
    })),
    clipboard: await clipboard.readText(),
    sandboxIsForced: app.sandboxIsForced,
    schemes: protocol.privileged,
    linkSchemes: app.linkSchemes,
    shown,
  }),
  /** Clicks the item with this id. */
  clickMenu({ id }: { id: string }): null {
    const menu = TrayDouble.current?.menu;
    const item = allItems(menu?.template ?? []).find((each) => each.id === id);
    if (!item?.click) throw new Error(`the menu has no "${id}" to click`);
    // The arguments that Electron passes are not used.
    const { click } = item;
    if (item.type === 'checkbox') menu?.toggled.add(item);
    return natively(() => Reflect.apply(click, undefined, []));
  },
  /** Presses the shortcut of an item of the application's menu, or clicks it. */
  useApplicationMenu({ id }: { id: string }): null {
    const item = allItems(MenuDouble.application?.template ?? []).find((each) => each.id === id);
    if (!item?.click) throw new Error(`the application's menu has no "${id}" to click`);
    const { click } = item;
    return natively(() => Reflect.apply(click, undefined, []));
  },
  pressHotkey: ({ keys }: { keys: string }) => natively(() => globalShortcut.held.get(keys)?.()),
  /** Presses this button of the latest notification. */
  pressNotification: ({ button }: { button: number }) =>
    natively(() => NotificationDouble.latest?.emit('action', { actionIndex: button, selectionIndex: -1 })),
  blurWindow: () => natively(() => theWindow().blur()),
  clickTray: () => natively(() => TrayDouble.current?.emit('click')),
  /** The panel has the focus, which a click on the tray takes from it. */
  clickTrayBesidePanel: () =>
    natively(() => {
      thePanel().blur();
      TrayDouble.current?.emit('click');
    }),
  rightClickTray: () => natively(() => TrayDouble.current?.emit('right-click')),
  blurPanel: () => natively(() => thePanel().blur()),
  crashPanel: () => natively(() => thePanel().webContents.page?.crash()),
  moveCursor({ at }: { at: Electron.Point }): null {
    cursor.at = at;
    return null;
  },
  /** As if a person had moved the bar to another display. */
  moveTray({ bounds }: { bounds: Electron.Rectangle }): null {
    if (TrayDouble.current) TrayDouble.current.bounds = bounds;
    return null;
  },
  /** Collects garbage and returns the memory to the system, as V8 does after some idle time. */
  collectGarbage(): null {
    setFlagsFromString('--expose-gc');
    runInNewContext("gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })");
    return null;
  },
  closeWindow: () => natively(() => theWindow().close()),
  fillScreen(): null {
    theWindow().setFullScreen(true);
    return null;
  },
  moveWindow({ bounds }: { bounds: Electron.Rectangle }): null {
    theWindow().bounds = bounds;
    return null;
  },
  /**
   * The page asks to stay because it has unsaved changes, and the person presses the button with this number. Returns
   * whether the page is left.
   */
  leaveUnsaved({ answer }: { answer: number }): boolean {
    dialog.answer = answer;
    let isLeft = false;
    theWindow().webContents.emit('will-prevent-unload', { preventDefault: () => (isLeft = true) });
    return isLeft;
  },
  crashPage: () => natively(() => theWindow().webContents.page?.crash()),
  power: ({ event }: { event: 'suspend' | 'resume' }) => natively(() => powerMonitor.emit(event)),
  /** Logs out as macOS does, where a prevented quit cancels the logout. */
  logOut: () =>
    natively(() => {
      powerMonitor.emit('shutdown');
      app.quit();
    }),
  /** Ends the session as Windows does, which only notifies windows. */
  endSession: () => natively(() => theWindow().emit('session-end', { reasons: ['logoff'] })),
  /** Passes a link or a file as macOS does. */
  handOver({ event, what }: { event: 'open-url' | 'open-file'; what: string }): null {
    return natively(() => app.emit(event, { preventDefault: () => {} }, what));
  },
  quit: () => natively(() => app.quit()),
  async invoke({ channel, args, from, url = '' }: InvokeOrder): Promise<unknown> {
    const stranger = () => Object.assign(new EventEmitter(), { url });
    const frame = asEmitter<Electron.WebFrameMain>(stranger());
    if (from === 'page') return invoke(theWindow(), { channel, args });
    if (from === 'frame') return invoke(theWindow(), { channel, args }, { frame });
    const contents = asEmitter<Electron.WebContents>(Object.assign(new EventEmitter(), { mainFrame: frame }));
    return invoke(theWindow(), { channel, args }, { frame, contents });
  },
  /** The answer to a page with this URL that requests a permission. */
  async permission({ name, url, media, pressed }: PermissionOrder) {
    const page = { getURL: () => url, setWindowOpenHandler: () => {} };
    const contents = asEmitter<Electron.WebContents>(Object.assign(new EventEmitter(), page));
    app.emit('web-contents-created', {}, contents);
    if (pressed) contents.emit('input-event', {}, { type: pressed });
    const { requestHandler, checkHandler } = defaultSession;
    if (!requestHandler || !checkHandler) throw new Error('nobody answers');
    const asking = { requestingUrl: url, isMainFrame: true };
    const isRequested = await new Promise<boolean>((resolve) =>
      requestHandler(contents, name, resolve, { ...asking, ...(media && { mediaTypes: [...media] }) }),
    );
    const [mediaType] = media ?? [];
    const isChecked = checkHandler(contents, name, url, { ...asking, ...(mediaType && { mediaType }) });
    return { isRequested, isChecked };
  },
};

export type Controls = typeof controls;
interface Order {
  id: number;
  name: keyof Controls;
  argument?: unknown;
}
export interface Outcome {
  id: number;
  result?: unknown;
  error?: string;
}

export function obey(): void {
  process.on('message', async ({ id, name, argument }: Order) => {
    const act = controls[name] as (argument: unknown) => unknown;
    try {
      process.send?.({ id, result: await act(argument) } satisfies Outcome);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Outcome);
    }
  });
}

function describeTray(): DesktopState['tray'] {
  const tray = TrayDouble.current;
  if (!tray) return null;
  const menu = tray.menu ?? tray.poppedUp;
  const items = allItems(menu?.template ?? []).filter(({ type }) => type !== 'separator');
  return {
    icon: tray.image.path,
    toolTip: tray.toolTip,
    title: tray.title,
    hasPoppedUp: tray.poppedUp !== null,
    menu: items.map((item) => describeItem(item, menu?.toggled.has(item) ?? false)),
  };
}

function describeItem(item: Electron.MenuItemConstructorOptions, isToggled: boolean): MenuLine {
  const { id = '', label = '', checked = null, enabled = true } = item;
  return { id, label, checked, looksChecked: (checked ?? false) !== isToggled, enabled };
}

/** `Settings… CmdOrCtrl+,` or `about`. */
function describeMenuItem({ label, role, type, accelerator }: Electron.MenuItemConstructorOptions): string {
  return [type === 'separator' ? '-' : (role ?? label ?? ''), accelerator ?? ''].join(' ').trim();
}

function allItems(template: Electron.MenuItemConstructorOptions[]): Electron.MenuItemConstructorOptions[] {
  return template.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? allItems(item.submenu) : [])]);
}

function framed(): BrowserWindowDouble[] {
  return [...BrowserWindowDouble.all].filter(({ options }) => options.frame !== false);
}

function theWindow(): BrowserWindowDouble {
  const [window] = framed();
  if (!window) throw new Error('no window is open');
  return window;
}

function findPanel(): BrowserWindowDouble | undefined {
  return [...BrowserWindowDouble.all].find(({ options }) => options.frame === false);
}

function thePanel(): BrowserWindowDouble {
  const panel = findPanel();
  if (!panel) throw new Error('there is no panel');
  return panel;
}

function describePanel(): DesktopState['panel'] {
  const panel = findPanel();
  if (!panel) return null;
  const { webContents, isShown, bounds, calls, options } = panel;
  return { url: webContents.getURL(), isShown, bounds, calls, preferences: options.webPreferences ?? {} };
}

/** Electron's native code cannot pass on an exception from a callback, so it becomes an uncaught exception. */
function natively(act: () => unknown): null {
  try {
    act();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
  return null;
}
