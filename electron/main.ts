/**
 * Entry of the desktop: single instance, order of start and shutdown, and process events. With `server/cli.ts` the only
 * file that reads `process.env`.
 *
 * Nothing may be awaited at the top: Electron is ready only when this module has run.
 */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { app, dialog, powerMonitor } from 'electron';
import { openManagedPresets, type PresetPlaces } from '../server/config/managed-preset.ts';
import { policyPath } from '../server/config/policy-path.ts';
import { isSluiceLink } from '../server/contract/preset-link.ts';
import { readEnvironment } from '../server/environment.ts';
import { createDesktop, type Desktop } from './desktop.ts';
import { createAutostartEntry, createLoginItem, hiddenFlag } from './login-item.ts';
import { messagesFor } from './messages.ts';
import { linkScheme, onOpened } from './opened-by-system.ts';
import type { UpdaterLibrary } from './updater.ts';
import { registerWindowScheme } from './window-scheme.ts';

/** Time for the whole shutdown, of which running requests have ten seconds. */
const endLimitMs = 15_000;
const { env, platform } = process;
const environment = readEnvironment(env);
const notice = (line: string) => void process.stderr.write(`${line}\n`);

keepElectronsFiles(join(environment.dataDir, 'desktop'));
app.setAppLogsPath(environment.systemLogDir ?? join(environment.dataDir, 'logs'));
app.enableSandbox();
registerWindowScheme();
// macOS may open a link before the app is ready.
const opened = onOpened(app, process.argv);

if (app.requestSingleInstanceLock()) {
  if (platform === 'darwin') app.dock?.hide();
  app.whenReady().then(run).catch(giveUp);
} else {
  // The first instance is notified and shows its window.
  app.quit();
}

/**
 * Next to the engine's data, so that each data folder belongs to one program with its own window; otherwise in
 * Electron's default place.
 */
function keepElectronsFiles(folder: string): void {
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
    built: {
      window: join(import.meta.dirname, '../window'),
      icons: join(import.meta.dirname, 'icons'),
      preload: join(import.meta.dirname, 'preload.cjs'),
      keytarChild: join(import.meta.dirname, 'keytar-child.js'),
    },
    loginItem:
      platform === 'linux'
        ? createAutostartEntry(join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart'), program())
        : createLoginItem(app),
    loadUpdater: updatesAreManaged(teamPresets) ? null : loadUpdater,
  });
  endInOrder(desktop);
  opened.passTo(desktop.inbox);
  // Without its installer this is Electron, which links are not to start.
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  app.on('activate', desktop.showWindow);
  // The gateway serves without a window.
  app.on('window-all-closed', () => {});
  return desktop.start({ showsWindow: !process.argv.includes(hiddenFlag) && !wasOpenedAtLogin() });
}

/**
 * Whoever made a build without a feed, or manages this machine, is responsible for updates, unless their preset says
 * otherwise.
 */
function updatesAreManaged(teamPresets: PresetPlaces): boolean {
  if (env.SLUICE_UPDATES === 'off' || !existsSync(join(process.resourcesPath, 'app-update.yml'))) return true;
  // The engine, which reads the preset too, reports its errors.
  const { current } = openManagedPresets(teamPresets, () => {});
  return current !== null && current.preset.updates !== 'on';
}

async function loadUpdater(): Promise<UpdaterLibrary> {
  return (await import('electron-updater')).default.autoUpdater;
}

/** An AppImage is mounted somewhere else at each start; its own path is in its environment. */
function program(): string {
  return env.APPIMAGE || process.execPath;
}

function wasOpenedAtLogin(): boolean {
  return platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;
}

/** There may be neither tray nor window to show the error, and a process without them is useless. */
function giveUp(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  dialog.showErrorBox(messagesFor(app.getLocale()).startFailed, why);
  app.exit(1);
}

function endInOrder(desktop: Desktop): void {
  let isEnding = false;
  let mayQuit = false;
  let startsAgain = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    // Ends the process even if something hangs.
    setTimeout(() => app.exit(1), endLimitMs).unref();
    void desktop.end().finally(() => {
      mayQuit = true;
      app.quit();
    });
  };
  app.on('before-quit', (event) => {
    if (!mayQuit) event.preventDefault();
    end();
  });
  // Delaying a quit that the system requests would cancel a logout or restart (macOS), so the shutdown gets as far as
  // it can.
  const endWithSession = () => {
    mayQuit = true;
    end();
  };
  powerMonitor.on('shutdown', endWithSession);
  // On Windows, only windows are notified.
  app.on('browser-window-created', (_event, window) => window.on('session-end', endWithSession));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
  app.on('second-instance', (_event, argv) => {
    if (!isEnding) return desktop.showWindow();
    if (!startsAgain) app.relaunch({ execPath: program(), args: argumentsForAnother(argv) });
    startsAgain = true;
  });
  // Electron would only print it.
  process.on('unhandledRejection', (error) => desktop.host.logFile?.log.error({ error }, 'a fault in Sluice'));
  process.on('uncaughtException', (error) => {
    const { logFile } = desktop.host;
    logFile?.log.fatal({ error }, 'a fault in Sluice');
    logFile?.flush();
    notice('A fault in Sluice; it ends now. Its log tells more.');
    app.exit(1);
  });
}

/** Of a start that this process, which was ending, has swallowed: its link, and none of its own wish for no window. */
function argumentsForAnother(argv: readonly string[]): string[] {
  return [
    ...process.argv.slice(1).filter((each) => each !== hiddenFlag && !isSluiceLink(each)),
    ...argv.filter(isSluiceLink),
  ];
}
