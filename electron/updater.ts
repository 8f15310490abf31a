/** Updates: checks in the background, downloads what is available, and installs it only when the user asks. */
import type { AppUpdater, CancellationToken } from 'electron-updater';
import type { UpdateView } from '../server/contract/ipc.ts';

export interface Updater {
  readonly view: UpdateView;
  /** Resolves when `view` has the result. A download may still be running then. */
  check(): Promise<void>;
  /** Cancels a running download. The next check starts it again. */
  cancel(): void;
  /**
   * Installs the downloaded update after `endEverythingElse` has resolved.
   *
   * @returns the error message if the installation failed; null if there is nothing to install. A successful installation
   * ends the process instead.
   */
  install(endEverythingElse: () => Promise<void>): Promise<string | null>;
}

export type UpdaterLibrary = Pick<
  AppUpdater,
  'autoDownload' | 'autoInstallOnAppQuit' | 'checkForUpdates' | 'quitAndInstall' | 'on'
>;

export interface UpdaterPorts {
  /** Loads electron-updater, which is large, at the first check. Null if updates are managed by whoever installed Sluice. */
  load: (() => Promise<UpdaterLibrary>) | null;
  changed(view: UpdateView): void;
}

const checkEveryMs = 24 * 60 * 60 * 1000;
/** How long an installation may take. On macOS, `quitAndInstall` does not report that there was nothing to install. */
const installLimitMs = 60_000;
const nothing: UpdateView = { state: 'idle', version: null, notes: null, percent: null, problem: null };
const settled: ReadonlySet<UpdateView['state']> = new Set(['idle', 'current', 'failed']);

export function createUpdater({ load, changed }: UpdaterPorts): Updater {
  let view: UpdateView = { ...nothing, state: load ? 'idle' : 'managed' };
  let library: UpdaterLibrary | null = null;
  let download: CancellationToken | undefined;
  let installFailed: ((problem: string) => void) | null = null;
  const become = (next: UpdateView) => {
    view = next;
    changed(next);
  };
  const fail = ({ message }: Error) => {
    if (installFailed) installFailed(message);
    else become({ ...nothing, state: 'failed', problem: message });
  };
  const check = async () => {
    if (!load || !settled.has(view.state)) return;
    become({ ...nothing, state: 'checking' });
    try {
      library ??= watch(await load(), { become, fail, current: () => view });
      const found = await library.checkForUpdates();
      // This kind of installation cannot be updated, such as one from a tar.gz.
      if (!found) return become({ ...nothing, state: 'managed' });
      download = found.cancellationToken;
      // Errors of the download are also emitted as events.
      found.downloadPromise?.catch(() => {});
    } catch (error) {
      // The `error` event has reported it already, unless loading electron-updater failed.
      if (view.state === 'checking') fail(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (load) setInterval(check, checkEveryMs).unref();
  return {
    get view() {
      return view;
    },
    check,
    cancel: () => download?.cancel(),
    async install(endEverythingElse) {
      if (!library || view.state !== 'ready' || installFailed) return null;
      const failed = Promise.withResolvers<string>();
      installFailed = failed.resolve;
      try {
        await endEverythingElse();
        quitAndInstall(library, failed.resolve);
        const problem = await failed.promise;
        become({ ...view, problem });
        return problem;
      } finally {
        installFailed = null;
      }
    },
  };
}

interface Watcher {
  become(view: UpdateView): void;
  fail(error: Error): void;
  current(): UpdateView;
}

function watch(library: UpdaterLibrary, { become, fail, current }: Watcher): UpdaterLibrary {
  library.autoDownload = true;
  library.autoInstallOnAppQuit = false;
  library.on('update-not-available', () => become({ ...nothing, state: 'current' }));
  library.on('update-available', (info) => become({ ...describe(info), state: 'downloading', percent: 0 }));
  library.on('download-progress', ({ percent }) => become({ ...current(), percent: Math.floor(percent) }));
  library.on('update-cancelled', () => become(nothing));
  library.on('update-downloaded', (info) => become({ ...describe(info), state: 'ready' }));
  library.on('error', fail);
  return library;
}

function quitAndInstall(library: UpdaterLibrary, failed: (problem: string) => void): void {
  setTimeout(failed, installLimitMs, 'the system did not install it in time').unref();
  try {
    library.quitAndInstall();
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error));
  }
}

function describe({ version, releaseNotes }: { version: string; releaseNotes?: unknown }): UpdateView {
  return { ...nothing, version, notes: typeof releaseNotes === 'string' ? releaseNotes : null };
}
