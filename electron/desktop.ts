/**
 * Creates the parts of the desktop (engine, tray, window, notifications, updater) and connects them. Contains no logic of
 * its own. Call when Electron is ready.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { app, dialog, globalShortcut, Menu, powerMonitor, protocol, session, shell } from 'electron';
import type { PresetPlaces } from '../server/config/managed-preset.ts';
import { openTerminal } from '../server/connect/open-terminal.ts';
import { type ToolAccess, toolEnvironment, withTool } from '../server/connect/tool-environment.ts';
import type { DesktopView, WindowAct } from '../server/contract/ipc.ts';
import type { Environment } from '../server/engine/environment.ts';
import type { EngineOptions } from '../server/engine/open-engine.ts';
import { applicationMenu, type MenuActs } from './application-menu.ts';
import { createEngineHost, type EngineHost } from './engine-host.ts';
import { watchEngine } from './engine-watch.ts';
import { createEventRelay } from './event-relay.ts';
import { createHotkey, type Hotkey } from './hotkey.ts';
import { closeStoreChannel, registerIpcHandlers, sendToPage } from './ipc.ts';
import { createIpcHandlers, engineOf, type IpcHandlerPorts } from './ipc-handlers.ts';
import { lockDown } from './lock-down.ts';
import type { LoginItem } from './login-item.ts';
import type { ShellMessages } from './messages.ts';
import { createNotifications, type Notifications } from './notifications.ts';
import { createOpenedInbox, type OpenedInbox } from './opened-inbox.ts';
import type { PagePorts } from './page-window.ts';
import { createPanel, type Panel } from './panel.ts';
import { watchPower } from './power.ts';
import { createSettingsPersistence, type DesktopSettingsStore, openDesktopSettings } from './settings-store.ts';
import { createShellLanguage, type ShellLanguage } from './shell-language.ts';
import { createKeychainHelperStarter } from './start-keychain-helper.ts';
import { openTray, type TrayIcon } from './tray.ts';
import { createTrayActions, runOrShowError } from './tray-actions.ts';
import { isTrayShown } from './tray-host.ts';
import { createUpdater, type Updater, type UpdaterPorts } from './updater.ts';
import { createWindowManager, type WindowManager } from './window.ts';
import { isWindowUrl, serveWindow } from './window-scheme.ts';

interface DesktopOptions {
  environment: Environment;
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Paths of the built files: the window's folder, the icons' folder, the preload script and the keychain helper. */
  builtFiles: { window: string; icons: string; preload: string; keychainHelper: string };
  loginItem: LoginItem;
  /** Whether the menu lets the page be reloaded and inspected. */
  hasDeveloperTools: boolean;
  loadUpdater: UpdaterPorts['load'];
  /** Paths of the managed and built-in team presets. */
  teamPresets: PresetPlaces;
  /** What joining the gateways of teams needs; absent in a build without it. */
  loadTeam: EngineOptions['loadTeam'];
  notice(line: string): void;
}

export interface Desktop {
  readonly host: EngineHost;
  /** Receives links and files that the operating system opens with Sluice; each is shown in the window. */
  readonly inbox: OpenedInbox;
  /** Starts the engine, then opens the window if asked to. */
  start(options: { showsWindow: boolean }): Promise<void>;
  /** While the engine is starting, the window opens as soon as it has started. */
  showWindow(): void;
  /** Lets running requests end, then closes everything. Further calls return the promise of the first one. */
  end(): Promise<void>;
}

export function createDesktop(options: DesktopOptions): Desktop {
  const { environment, platform, builtFiles, loginItem } = options;
  const { dataDir } = environment;
  const host = createHost(options);
  const settings = openDesktopSettings(join(dataDir, 'desktop.json'), (error) =>
    host.logFile?.log.warn({ error }, 'what the desktop remembers was not written'),
  );
  const language = createShellLanguage(settings, app.getLocale());
  closeStoreChannel();
  const relay = createEventRelay(host, sendToPage);
  let tray: TrayIcon | null = null;
  const pagePorts = {
    preload: builtFiles.preload,
    onPageGone: relay.forget,
    onCrash: (reason: string) => host.logFile?.log.error({ reason }, 'the window’s process is gone'),
  };
  const window = setUpWindow(options, pagePorts, { settings, language });
  const panel = createPanel({ ...pagePorts, platform, trayBounds: () => tray?.bounds() ?? null });
  let phase: 'starting' | 'started' | 'ended' = 'starting';
  /** The screen that was asked for before Sluice had started; null if none was. */
  let requested: { path: string | undefined } | null = null;
  const showWindow = (path?: string) => {
    if (phase === 'started') window.open(path);
    else requested = { path };
  };
  const notifications = createNotifications({
    settings,
    language,
    open: showWindow,
    stopSession: (id) =>
      void runOrShowError(async () => host.gateway?.execute({ type: 'session.stop', id }), {
        language,
        onFailure() {},
      }),
  });
  const hotkey = createHotkey({
    globalShortcut,
    settings,
    onPress: () => (phase === 'started' ? window.toggle() : showWindow()),
  });
  const updater = createUpdater({
    load: options.loadUpdater,
    onChange(view) {
      if (view.problem === null) notifications.onUpdate(view);
      if (view.problem === null && view.state === 'ready') host.gateway?.updateReady(view.version ?? '');
      publishDesktop();
    },
  });
  const watch = watchEngine({ host, onChange: () => draw(), onEvent: notifications.onEvent });
  const desktopView = () => describeDesktop({ platform, host, settings, loginItem, hotkey, notifications, updater });
  const draw = () => {
    const { startsAtLogin, update } = desktopView();
    // Redrawing replaces an open menu, so the progress of a download must not cause it.
    tray?.draw({
      ...watch.facts,
      startsAtLogin,
      showsCost: settings.current.trayCost,
      update: { ...update, percent: null },
    });
  };
  const sendDesktop = () => {
    for (const shown of [window, panel])
      shown.withPage((page) => sendToPage(page, { type: 'desktop', desktop: desktopView() }));
  };
  const sendAct = (act: WindowAct) => window.withPage((page) => sendToPage(page, { type: 'act', act }));
  const drawMenu = createMenuDrawer(options, language, {
    open: showWindow,
    findAnything() {
      showWindow();
      sendAct('find-anything');
    },
    reloadData: () => sendAct('reload-data'),
    showLogFolder,
  });
  const publishDesktop = () => {
    draw();
    drawMenu();
    sendDesktop();
  };
  host.onChange(sendDesktop);
  const stop = async () => {
    window.end();
    panel.end();
    await host.switchOff();
  };
  const end = once(async () => {
    phase = 'ended';
    stopPower();
    hotkey.close();
    await stop();
    tray?.close();
    tray = null;
  });
  const inbox = createOpenedInbox({
    show: showWindow,
    announce: () => window.withPage((page) => sendToPage(page, { type: 'opened' })),
    readCassette: async (path) => engineOf(host).readCassette(path),
  });
  const installUpdate = async () => {
    const wasOn = host.gateway !== null;
    const problem = await updater.install(stop);
    if (problem === null || phase === 'ended') return;
    if (wasOn) await host.switchOn();
    host.logFile?.log.error({ problem }, 'the update was not installed');
    await dialog.showMessageBox({ type: 'error', message: language.messages.installFailed, detail: problem });
  };
  const stopPower = watchPower(powerMonitor, () => {
    host.gateway?.networkChanged();
    watch.recount();
  });

  openPages(options, {
    host,
    relay,
    window,
    panel,
    settings,
    loginItem,
    hotkey,
    notifications,
    updater,
    inbox,
    language,
    desktopView,
    installUpdate,
    publishDesktop,
    showLogFolder,
    openTerminal: (access) => openToolTerminal(options, access),
  });
  return {
    host,
    inbox,
    end,
    showWindow: () => showWindow(),
    async start({ showsWindow }) {
      tray = openTray({
        folder: builtFiles.icons,
        platform,
        language,
        actions: createTrayActions({
          host,
          showWindow,
          togglePanel: () => phase !== 'ended' && panel.toggle(),
          language,
          loginItem,
          updater,
          onChange: publishDesktop,
          onFailure() {
            tray?.invalidate();
            draw();
          },
          installUpdate,
          showLogFolder,
        }),
      });
      draw();
      drawMenu();
      await host.switchOn();
      if (phase === 'ended') return;
      phase = 'started';
      if (platform !== 'linux') panel.prepare();
      if (showsWindow || requested) window.open(requested?.path);
      void updater.check();
      // Without a tray, the window is the only way to reach Sluice.
      if (!window.isShown && platform === 'linux' && !(await isTrayShown())) showWindow();
    },
  };
}

interface DescribedParts {
  platform: NodeJS.Platform;
  settings: DesktopSettingsStore;
  host: EngineHost;
  loginItem: LoginItem;
  hotkey: Hotkey;
  notifications: Notifications;
  updater: Updater;
}

function describeDesktop(parts: DescribedParts): DesktopView {
  const { platform, host, settings, loginItem, hotkey, notifications, updater } = parts;
  return {
    gateway: host.state.kind,
    startsAtLogin: loginItem.isOn,
    trayCost: platform === 'darwin' ? settings.current.trayCost : null,
    hotkey: hotkey.view,
    notifications: notifications.settings,
    update: updater.view,
  };
}

function openToolTerminal({ platform, env }: DesktopOptions, access: ToolAccess): Promise<void> {
  return openTerminal({ platform, env: withTool(env, toolEnvironment(access, env)), folder: env.HOME || homedir() });
}

const showLogFolder = () => void shell.openPath(app.getPath('logs'));

/** The returned function sets the application's menu, in the language of the moment. */
function createMenuDrawer(
  { platform, hasDeveloperTools }: DesktopOptions,
  language: ShellLanguage,
  acts: MenuActs,
): () => void {
  const isMac = platform === 'darwin';
  // Unpackaged, macOS would name Electron and its version.
  if (isMac) app.setAboutPanelOptions({ applicationName: 'Sluice', applicationVersion: app.getVersion() });
  let drawn: ShellMessages | null = null;
  return () => {
    const { messages } = language;
    if (messages === drawn) return;
    drawn = messages;
    Menu.setApplicationMenu(Menu.buildFromTemplate(applicationMenu({ isMac, hasDeveloperTools }, acts, messages)));
  };
}

function setUpWindow(
  { platform }: DesktopOptions,
  pagePorts: PagePorts,
  { settings, language }: { settings: DesktopSettingsStore; language: ShellLanguage },
): WindowManager {
  return createWindowManager({
    ...pagePorts,
    settings,
    onShownChange: (isShown) => showInDock(platform, isShown),
    mayDiscardEdits: () => mayDiscardEdits(language),
  });
}

function mayDiscardEdits({ messages: { unsaved } }: ShellLanguage): boolean {
  const buttons = [unsaved.keep, unsaved.discard];
  return dialog.showMessageBoxSync({ type: 'question', message: unsaved.title, buttons, cancelId: 0 }) === 1;
}

type PageParts = IpcHandlerPorts & { window: WindowManager; panel: Panel };

/** Sets up everything that a page can reach: the window's scheme, IPC, and the restrictions on navigation. */
function openPages({ builtFiles }: DesktopOptions, parts: PageParts): void {
  const { host, window, panel } = parts;
  lockDown({ app, session: session.defaultSession, shell, isWindowUrl });
  serveWindow(protocol, { folder: builtFiles.window, baseUrl: () => servingUrl(host), gateway: () => host.gateway });
  registerIpcHandlers({
    handlers: createIpcHandlers(parts),
    ownsContents: (contents) => window.ownsContents(contents) || panel.ownsContents(contents),
    isWindowUrl,
    reportError: (error) => host.logFile?.log.error({ error }, 'a call of the window failed'),
  });
}

function createHost({ environment, env, builtFiles, teamPresets, loadTeam, notice }: DesktopOptions): EngineHost {
  // Chromium's own proxy resolution, including the system's settings and PAC scripts.
  const proxies = { ...environment.proxies, askSystem: (url: string) => app.resolveProxy(url) };
  return createEngineHost(environment.dataDir, {
    environment: { ...environment, proxies },
    env,
    logFolder: app.getPath('logs'),
    saysWhereSecretsAre: true,
    notice,
    teamPresets,
    loadTeam,
    openPersistence: createSettingsPersistence,
    startKeychainHelper: createKeychainHelperStarter(builtFiles.keychainHelper),
    windowFolders: [builtFiles.window],
  });
}

function servingUrl({ state }: EngineHost): string | null {
  return state.kind === 'serving' ? state.baseUrl : null;
}

/** On macOS, the dock icon is shown only while the window is. */
function showInDock(platform: NodeJS.Platform, isShown: boolean): void {
  if (platform !== 'darwin') return;
  if (isShown) void app.dock?.show();
  else app.dock?.hide();
}

function once(task: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= task();
    return done;
  };
}
