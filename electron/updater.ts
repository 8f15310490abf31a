/** Updates: looks for them quietly, loads one that is there, and installs it only when somebody asks. */
import type { AppUpdater, CancellationToken } from 'electron-updater';
import type { UpdateView } from '../server/contract/ipc.ts';

export interface Updater {
  readonly view: UpdateView;
  /** Resolves when the result is in `view`; a download continues afterwards. */
  check(): Promise<void>;
  /** Progress of the running download; reset by the next check. */
  cancel(): void;
  /**
   * Replaces the program, once everything else has ended.
   *
   * @returns why it could not be, when it has failed; null where there is nothing to install. An installation that goes
   * well ends the process instead.
   */
  install(endEverythingElse: () => Promise<void>): Promise<string | null>;
}

export type UpdaterLibrary = Pick<
  AppUpdater,
  'autoDownload' | 'autoInstallOnAppQuit' | 'checkForUpdates' | 'quitAndInstall' | 'on'
>;

export interface UpdaterPorts {
  /** Loads the updater, which is large, at the first check. Null: whoever installed Sluice is responsible for updates. */
  load: (() => Promise<UpdaterLibrary>) | null;
  changed(view: UpdateView): void;
}

const checkEveryMs = 24 * 60 * 60 * 1000;
/** Time for the system to install the new program; macOS does not report that there was nothing to install. */
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
      // Nothing can replace this kind of installation, such as one from a tar.gz.
      if (!found) return become({ ...nothing, state: 'managed' });
      download = found.cancellationToken;
      // Failures are reported as an event.
      found.downloadPromise?.catch(() => {});
    } catch (error) {
      // Already reported by an event, unless the updater could not be loaded.
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
