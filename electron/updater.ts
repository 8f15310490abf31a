/** Updates: checks in the background, downloads what is available, and installs it only when the user asks. */

import type { AppUpdater, CancellationToken } from 'electron-updater';
import type { UpdateView } from '../server/contract/ipc.ts';
import { dayMs } from '../server/contract/units.ts';
import { after, every } from '../server/ground/timers.ts';

export interface Updater {
  readonly view: UpdateView;
  /** Resolves when `view` has the result. A download may still be running then. */
  check(): Promise<void>;
  /** Cancels a running download. The next check starts it again. */
  cancel(): void;
  /**
   * Installs the downloaded update after `shutDown` has resolved.
   *
   * @returns the error message if the installation failed; null if there is nothing to install. A successful installation
   * ends the process instead.
   */
  install(shutDown: () => Promise<void>): Promise<string | null>;
}

export type UpdaterLibrary = Pick<
  AppUpdater,
  'autoDownload' | 'autoInstallOnAppQuit' | 'checkForUpdates' | 'quitAndInstall' | 'on'
>;

export interface UpdaterPorts {
  /** Loads electron-updater, which is large, at the first check. Null if updates are managed by whoever installed Sluice. */
  load: (() => Promise<UpdaterLibrary>) | null;
  onChange(view: UpdateView): void;
}

const checkEveryMs = dayMs;
/** How long an installation may take. On macOS, `quitAndInstall` does not report that there was nothing to install. */
const installLimitMs = 60_000;
const emptyView: UpdateView = { state: 'idle', version: null, notes: null, percent: null, problem: null };
const idleStates: ReadonlySet<UpdateView['state']> = new Set(['idle', 'current', 'failed']);

export function createUpdater({ load, onChange }: UpdaterPorts): Updater {
  let view: UpdateView = { ...emptyView, state: load ? 'idle' : 'managed' };
  let library: UpdaterLibrary | null = null;
  let download: CancellationToken | undefined;
  let onInstallFailure: ((problem: string) => void) | null = null;
  const setView = (next: UpdateView) => {
    view = next;
    onChange(next);
  };
  const fail = ({ message }: Error) => {
    if (onInstallFailure) onInstallFailure(message);
    else setView({ ...emptyView, state: 'failed', problem: message });
  };
  const check = async () => {
    if (!load || !idleStates.has(view.state)) return;
    setView({ ...emptyView, state: 'checking' });
    try {
      library ??= attachListeners(await load(), { setView, fail, current: () => view });
      const found = await library.checkForUpdates();
      // This kind of installation cannot be updated, such as one from a tar.gz.
      if (!found) return setView({ ...emptyView, state: 'managed' });
      download = found.cancellationToken;
      // Errors of the download are also emitted as events.
      found.downloadPromise?.catch(() => {});
    } catch (error) {
      // The `error` event has reported it already, unless loading electron-updater failed.
      if (view.state === 'checking') fail(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (load) every(check, checkEveryMs).unref();
  return {
    get view() {
      return view;
    },
    check,
    cancel: () => download?.cancel(),
    async install(shutDown) {
      if (!library || view.state !== 'ready' || onInstallFailure) return null;
      const failure = Promise.withResolvers<string>();
      onInstallFailure = failure.resolve;
      try {
        await shutDown();
        quitAndInstall(library, failure.resolve);
        const problem = await failure.promise;
        setView({ ...view, problem });
        return problem;
      } finally {
        onInstallFailure = null;
      }
    },
  };
}

interface LibraryListeners {
  setView(view: UpdateView): void;
  fail(error: Error): void;
  current(): UpdateView;
}

function attachListeners(library: UpdaterLibrary, { setView, fail, current }: LibraryListeners): UpdaterLibrary {
  library.autoDownload = true;
  library.autoInstallOnAppQuit = false;
  library.on('update-not-available', () => setView({ ...emptyView, state: 'current' }));
  library.on('update-available', (info) => setView({ ...describe(info), state: 'downloading', percent: 0 }));
  library.on('download-progress', ({ percent }) => setView({ ...current(), percent: Math.floor(percent) }));
  library.on('update-cancelled', () => setView(emptyView));
  library.on('update-downloaded', (info) => setView({ ...describe(info), state: 'ready' }));
  library.on('error', fail);
  return library;
}

function quitAndInstall(library: UpdaterLibrary, onFailure: (problem: string) => void): void {
  after(() => onFailure('the system did not install it in time'), installLimitMs).unref();
  try {
    library.quitAndInstall();
  } catch (error) {
    onFailure(error instanceof Error ? error.message : String(error));
  }
}

function describe({ version, releaseNotes }: { version: string; releaseNotes?: unknown }): UpdateView {
  return { ...emptyView, version, notes: typeof releaseNotes === 'string' ? releaseNotes : null };
}
