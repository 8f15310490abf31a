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
import electronUpdater from 'electron-updater';
import { readEnvironment } from '../server/environment.ts';
import { createDesktop, type Desktop } from './desktop.ts';
import { createAutostartEntry, createLoginItem, hiddenFlag } from './login-item.ts';
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
app.enableSandbox();
registerWindowScheme();

if (app.requestSingleInstanceLock()) {
  if (platform === 'darwin') app.dock?.hide();
  void app.whenReady().then(run);
} else {
  // The first one hears of it and shows its window.
  app.quit();
}

async function run(): Promise<void> {
  const desktop = createDesktop({
    ...{ environment, env, platform, notice },
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
    updater: electronUpdater.autoUpdater,
    // A build that names no feed has no such file: whoever made it sees to its updates.
    updatesAreManaged: env.SLUICE_UPDATES === 'off' || !existsSync(join(process.resourcesPath, 'app-update.yml')),
  });
  endInOrder(desktop);
  app.on('second-instance', desktop.showWindow);
  app.on('activate', desktop.showWindow);
  // The gateway serves without a window.
  app.on('window-all-closed', () => {});
  await desktop.start({ showsWindow: !process.argv.includes(hiddenFlag) && !wasOpenedAtLogin() });
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
