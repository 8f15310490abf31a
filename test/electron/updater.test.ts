import { EventEmitter } from 'node:events';
import type { AppUpdater } from 'electron-updater';
import { describe, expect, it } from 'vitest';
import { createUpdater, type UpdaterPorts } from '../../electron/updater.ts';
import type { UpdateView } from '../../server/contract/ipc.ts';
import { asEmitter } from './double/as-electron.ts';

/** electron-updater, whose feed says what the test does. */
function start({ isManaged = false } = {}) {
  const seen: UpdateView['state'][] = [];
  let checks = 0;
  let isInstalled = false;
  const parts: Partial<Omit<AppUpdater, keyof EventEmitter>> = {
    autoDownload: false,
    autoInstallOnAppQuit: true,
    async checkForUpdates() {
      checks++;
      return null;
    },
    quitAndInstall: () => {
      isInstalled = true;
    },
  };
  const updater = asEmitter<AppUpdater & EventEmitter>(Object.assign(new EventEmitter(), parts));
  const ports: UpdaterPorts = { updater: isManaged ? null : updater, changed: ({ state }) => seen.push(state) };
  return { updater, seen, ours: createUpdater(ports), checks: () => checks, isInstalled: () => isInstalled };
}

describe('the updater', () => {
  it('loads an update that it finds, and installs it only when asked', async () => {
    const { updater, ours, seen, isInstalled } = start();
    expect(updater).toMatchObject({ autoDownload: true, autoInstallOnAppQuit: false });
    await ours.check();
    updater.emit('update-available', { version: '2.0.0', releaseNotes: 'Faster.' });
    updater.emit('update-downloaded', { version: '2.0.0', releaseNotes: 'Faster.' });
    expect(seen).toEqual(['checking', 'downloading', 'ready']);
    expect(ours.view).toEqual({ state: 'ready', version: '2.0.0', notes: 'Faster.', problem: null });
    expect(isInstalled()).toBe(false);
    ours.install();
    expect(isInstalled()).toBe(true);
  });

  it('does not look again for what is there already', async () => {
    const { updater, ours, checks } = start();
    updater.emit('update-downloaded', { version: '2.0.0' });
    await ours.check();
    expect(checks()).toBe(0);
    expect(ours.view.state).toBe('ready');
  });

  it('says that there is none, or that it could not look', async () => {
    const { updater, ours } = start();
    updater.emit('update-not-available', { version: '1.0.0' });
    expect(ours.view.state).toBe('current');
    updater.emit('error', new Error('no network'));
    expect(ours.view).toMatchObject({ state: 'failed', problem: 'no network' });
  });

  it('leaves a managed installation alone', async () => {
    const { updater, ours, checks } = start({ isManaged: true });
    await ours.check();
    expect(checks()).toBe(0);
    expect(ours.view.state).toBe('managed');
    expect(updater.autoDownload).toBe(false);
  });
});
