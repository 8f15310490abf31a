/**
 * Entry point of the desktop application: the single-instance lock, the order of startup and shutdown, and process events.
 * This and `server/cli.ts` are the only files that read `process.env`.
 *
 * No top-level await: Electron emits `ready` only after this module has run.
 */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { app, dialog, powerMonitor } from 'electron';
import { openManagedPresets, type PresetPlaces, policyPath } from '../server/config/managed-preset.ts';
import { isSluiceLink } from '../server/contract/sluice-link.ts';
import { readEnvironment } from '../server/engine/environment.ts';
import { isResourceExhaustion } from '../server/ground/resource-exhaustion.ts';
import { after } from '../server/ground/timers.ts';
import { optionalParts } from '../server/optional-parts.ts';
import { createDesktop, type Desktop } from './desktop.ts';
import { createAutostartEntry, createLoginItem, hiddenFlag } from './login-item.ts';
import { messagesFor } from './messages.ts';
import { linkScheme, receiveOpenRequests } from './open-requests.ts';
import type { UpdaterLibrary } from './updater.ts';
import { registerWindowScheme } from './window-scheme.ts';

/** Time for the whole shutdown. Running requests have ten seconds of it. */
const shutdownLimitMs = 15_000;
/** A signal that arrives again within this time is the same one. */
const sameSignalMs = 1_000;
const appUserModelId = 'dev.sluice.desktop';
const { env, platform } = process;
const environment = readEnvironment(env);
const notice = (line: string) => void process.stderr.write(`${line}\n`);

setUserDataFolder(join(environment.dataDir, 'desktop'));
app.setAppLogsPath(environment.systemLogDir ?? join(environment.dataDir, 'logs'));
app.enableSandbox();
registerWindowScheme();
// Without it, Wayland has no global hotkeys.
if (platform === 'linux') app.commandLine.appendSwitch('enable-features', 'GlobalShortcutsPortal');
// On macOS, `open-url` may be emitted before `ready`.
const openRequests = receiveOpenRequests(app, process.argv);

if (app.requestSingleInstanceLock()) {
  if (platform === 'darwin') app.dock?.hide();
  // Windows shows notifications only for a program that names itself as its shortcut in the Start menu does, which the
  // installer made with the `appId` of `build/electron-builder.json`.
  if (platform === 'win32' && app.isPackaged) app.setAppUserModelId(appUserModelId);
  app.whenReady().then(run).catch(exitWithError);
} else {
  // The first instance receives `second-instance` and shows its window.
  app.quit();
}

/**
 * Stores Chromium's files in the data folder, so that each data folder has its own instance and window. If the folder is
 * not writable, Electron's default stays.
 */
function setUserDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    app.setPath('userData', folder);
  } catch (error) {
    notice(`The window keeps its files in ${app.getPath('userData')}: ${String(error)}`);
  }
}

function run(): Promise<void> {
  const teamPresets = { policy: policyPath(platform, env), builtIn: join(import.meta.dirname, '../team-preset.json') };
  const desktop = createDesktop({
    environment,
    env,
    platform,
    notice,
    teamPresets,
    loadTeam: optionalParts.team,
    builtFiles: {
      window: join(import.meta.dirname, '../window'),
      icons: join(import.meta.dirname, 'icons'),
      preload: join(import.meta.dirname, 'preload.cjs'),
      keychainHelper: join(import.meta.dirname, 'keychain-helper.js'),
    },
    loginItem:
      platform === 'linux'
        ? createAutostartEntry(join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart'), executablePath())
        : createLoginItem(app),
    hasDeveloperTools: env.SLUICE_DEVTOOLS === 'on',
    loadUpdater: updatesAreManaged(teamPresets) ? null : loadUpdater,
  });
  handleShutdown(desktop);
  openRequests.deliverTo(desktop.inbox);
  // Unpackaged, the executable is Electron itself, which must not be registered for links.
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  app.on('activate', desktop.showWindow);
  // Without a listener, Electron would quit; the gateway keeps running without a window.
  app.on('window-all-closed', () => {});
  return desktop.start({ showsWindow: !process.argv.includes(hiddenFlag) && !wasOpenedAtLogin() });
}

/**
 * Builds without an update feed and machines with a managed team preset are updated by their administrators, unless the
 * preset sets `updates` to `on`.
 */
function updatesAreManaged(teamPresets: PresetPlaces): boolean {
  if (env.SLUICE_UPDATES === 'off' || !existsSync(join(process.resourcesPath, 'app-update.yml'))) return true;
  // The engine reads the preset, too, and reports its errors.
  const { current } = openManagedPresets(teamPresets, () => {});
  return current !== null && current.preset.updates !== 'on';
}

async function loadUpdater(): Promise<UpdaterLibrary> {
  return (await import('electron-updater')).default.autoUpdater;
}

/** An AppImage is mounted at a different path each time it starts; `APPIMAGE` has the path of the file itself. */
function executablePath(): string {
  return env.APPIMAGE || process.execPath;
}

function wasOpenedAtLogin(): boolean {
  return platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;
}

/** Shows a dialog, since there may be no tray or window to show the error, and exits. */
function exitWithError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  dialog.showErrorBox(messagesFor(app.getLocale()).startFailed, message);
  app.exit(1);
}

function handleShutdown(desktop: Desktop): void {
  let shuttingDownSinceMs: number | undefined;
  let mayQuit = false;
  let isRelaunching = false;
  const shutDown = () => {
    if (shuttingDownSinceMs !== undefined) return;
    shuttingDownSinceMs = performance.now();
    // Exit even if something hangs.
    after(() => app.exit(1), shutdownLimitMs).unref();
    void desktop.end().finally(() => {
      mayQuit = true;
      app.quit();
    });
  };
  app.on('before-quit', (event) => {
    if (!mayQuit) event.preventDefault();
    shutDown();
  });
  // Preventing a quit during logout or restart would cancel it (macOS), so this shuts down as far as time allows.
  const shutDownWithSession = () => {
    mayQuit = true;
    shutDown();
  };
  powerMonitor.on('shutdown', shutDownWithSession);
  // On Windows, only windows receive the event.
  app.on('browser-window-created', (_event, window) => window.on('session-end', shutDownWithSession));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      const isSecond = shuttingDownSinceMs !== undefined && performance.now() - shuttingDownSinceMs > sameSignalMs;
      if (isSecond) app.exit(1);
      else shutDown();
    });
  app.on('second-instance', (_event, argv) => {
    if (shuttingDownSinceMs === undefined) return desktop.showWindow();
    if (!isRelaunching) app.relaunch({ execPath: executablePath(), args: relaunchArguments(argv) });
    isRelaunching = true;
  });
  // By default, Electron only prints these.
  process.on('unhandledRejection', (error) => desktop.host.logFile?.log.error({ error }, 'a fault in Sluice'));
  process.on('uncaughtException', (error) => {
    const { logFile } = desktop.host;
    if (isResourceExhaustion(error)) {
      logFile?.log.error({ error }, 'a fault in the background');
      return;
    }
    logFile?.log.fatal({ error }, 'a fault in Sluice');
    notice('A fault in Sluice; it ends now. Its log tells more.');
    void Promise.resolve(logFile?.close()).finally(() => app.exit(1));
  });
}

/**
 * Arguments for the relaunch after a second instance was started during shutdown: with the link of the second instance, and
 * without `--hidden`, since the user wants to see the window.
 */
function relaunchArguments(argv: readonly string[]): string[] {
  return [
    ...process.argv.slice(1).filter((argument) => argument !== hiddenFlag && !isSluiceLink(argument)),
    ...argv.filter(isSluiceLink),
  ];
}
