/**
 * Entry of the desktop: one instance, the order of start and end, and what the process says to it. With `server/cli.ts`
 * the only file that reads `process.env`.
 *
 * Nothing may be awaited at the top: Electron is ready only when this module has run.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { app } from 'electron';
import type { AppUpdater } from 'electron-updater';
import { openManagedPresets, type PresetPlaces } from '../server/config/managed-preset.ts';
import { policyPath } from '../server/config/policy-path.ts';
import { readEnvironment } from '../server/environment.ts';
import { createDesktop, type Desktop } from './desktop.ts';
import { createAutostartEntry, createLoginItem, hiddenFlag } from './login-item.ts';
import { hearOpened, linkScheme } from './opened-by-system.ts';
import { registerWindowScheme } from './window-scheme.ts';

/** For running requests, which have ten seconds of it, and for everything else. */
const endLimitMs = 15_000;
const { env, platform } = process;
const environment = readEnvironment(env);
const notice = (line: string) => void process.stderr.write(`${line}\n`);

// Beside the engine's data, so that a data folder is one program, with a window of its own.
const electronFolder = join(environment.dataDir, 'desktop');
mkdirSync(electronFolder, { recursive: true, mode: 0o700 });
app.setPath('userData', electronFolder);
app.setAppLogsPath(environment.systemLogDir ?? join(environment.dataDir, 'logs'));
app.enableSandbox();
registerWindowScheme();
// macOS may tell of a link before the app is ready.
const opened = hearOpened(app, process.argv);

if (app.requestSingleInstanceLock()) {
  if (platform === 'darwin') app.dock?.hide();
  void app.whenReady().then(run);
} else {
  // The first one hears of it and shows its window.
  app.quit();
}

async function run(): Promise<void> {
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
    updater: updatesAreManaged(teamPresets) ? null : await loadUpdater(),
  });
  endInOrder(desktop);
  opened.passTo(desktop.inbox);
  // Without its installer this is Electron, which links are not to start.
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  app.on('second-instance', desktop.showWindow);
  app.on('activate', desktop.showWindow);
  // The gateway serves without a window.
  app.on('window-all-closed', () => {});
  await desktop.start({ showsWindow: !process.argv.includes(hiddenFlag) && !wasOpenedAtLogin() });
}

/** Whoever made a build without a feed, or manages this machine, sees to its updates, unless their preset says otherwise. */
function updatesAreManaged(teamPresets: PresetPlaces): boolean {
  if (env.SLUICE_UPDATES === 'off' || !existsSync(join(process.resourcesPath, 'app-update.yml'))) return true;
  // What is wrong with a preset the engine tells, which reads it too.
  const { current } = openManagedPresets(teamPresets, () => {});
  return current !== null && current.preset.updates !== 'on';
}

/** Large, so only where it has something to do. */
async function loadUpdater(): Promise<AppUpdater> {
  return (await import('electron-updater')).default.autoUpdater;
}

/** An AppImage is mounted somewhere else at each start; its own path is in its environment. */
function program(): string {
  return env.APPIMAGE || process.execPath;
}

function wasOpenedAtLogin(): boolean {
  return platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;
}

function endInOrder(desktop: Desktop): void {
  let hasEnded = false;
  app.on('before-quit', (event) => {
    if (hasEnded) return;
    event.preventDefault();
    // Whatever hangs, the process ends all the same.
    setTimeout(() => app.exit(1), endLimitMs).unref();
    void desktop.end().finally(() => {
      hasEnded = true;
      app.quit();
    });
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => app.quit());
  process.on('uncaughtException', (error) => {
    const { logFile } = desktop.host;
    logFile?.log.fatal({ error }, 'a fault in Sluice');
    logFile?.flush();
    notice('A fault in Sluice; it ends now. Its log tells more.');
    app.exit(1);
  });
}
