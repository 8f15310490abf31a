/** Updates: looks for them quietly, loads one that is there, and installs it only when somebody asks. */
import type { AppUpdater } from 'electron-updater';
import type { UpdateView } from '../server/contract/ipc.ts';

export interface Updater {
  readonly view: UpdateView;
  /** Resolves when the answer is in `view`. */
  check(): Promise<void>;
  /** Replaces the program; to be called when everything else has ended. */
  install(): void;
}

export interface UpdaterPorts {
  /** Null: whoever installed Sluice sees to its updates. */
  updater: Pick<
    AppUpdater,
    'autoDownload' | 'autoInstallOnAppQuit' | 'checkForUpdates' | 'quitAndInstall' | 'on'
  > | null;
  changed(view: UpdateView): void;
}

const checkEveryMs = 24 * 60 * 60 * 1000;
const nothing: UpdateView = { state: 'idle', version: null, notes: null, problem: null };

export function createUpdater({ updater, changed }: UpdaterPorts): Updater {
  let view: UpdateView = { ...nothing, state: updater ? 'idle' : 'managed' };
  const become = (next: UpdateView) => {
    view = next;
    changed(next);
  };
  const check = async () => {
    if (!updater || view.state === 'downloading' || view.state === 'ready') return;
    become({ ...nothing, state: 'checking' });
    // A refusal is told as an event too, which says what the view needs.
    await updater.checkForUpdates().catch(() => {});
  };
  if (updater) {
    updater.autoDownload = true;
    updater.autoInstallOnAppQuit = false;
    updater.on('update-not-available', () => become({ ...nothing, state: 'current' }));
    updater.on('update-available', (info) => become({ ...describe(info), state: 'downloading' }));
    updater.on('update-downloaded', (info) => become({ ...describe(info), state: 'ready' }));
    updater.on('error', (error) => become({ ...nothing, state: 'failed', problem: error.message }));
    setInterval(check, checkEveryMs).unref();
  }
  return {
    get view() {
      return view;
    },
    check,
    install: () => updater?.quitAndInstall(),
  };
}

function describe({ version, releaseNotes }: { version: string; releaseNotes?: unknown }): UpdateView {
  return { ...nothing, version, notes: typeof releaseNotes === 'string' ? releaseNotes : null };
}
