import { EventEmitter } from 'node:events';
import { type AppUpdater, CancellationToken, type UpdateCheckResult } from 'electron-updater';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUpdater } from '../../electron/updater.ts';
import type { UpdateView } from '../../server/contract/ipc.ts';
import { asElectron, asEmitter } from './double/as-electron.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** electron-updater with a feed that the test controls. */
function start({ found = {} as Partial<UpdateCheckResult> | null } = {}) {
  const seen: UpdateView['state'][] = [];
  const acts: string[] = [];
  const parts: Partial<Omit<AppUpdater, keyof EventEmitter>> = {
    autoDownload: false,
    autoInstallOnAppQuit: true,
    async checkForUpdates() {
      acts.push('check');
      return found && asElectron<UpdateCheckResult>(found);
    },
    quitAndInstall: () => void acts.push('quit and install'),
  };
  const library = asEmitter<AppUpdater & EventEmitter>(Object.assign(new EventEmitter(), parts));
  const ours = createUpdater({ load: async () => library, onChange: ({ state }) => seen.push(state) });
  const end = async () => void acts.push('end');
  const findUpdate = async () => {
    await ours.check();
    library.emit('update-available', { version: '2.0.0', releaseNotes: 'Faster.' });
    library.emit('update-downloaded', { version: '2.0.0', releaseNotes: 'Faster.' });
  };
  return { library, seen, acts, ours, end, findUpdate };
}

const ready = { state: 'ready', version: '2.0.0', notes: 'Faster.', percent: null, problem: null };

describe('the updater', () => {
  it('loads an update that it finds, and installs it only when asked, after everything else has ended', async () => {
    const { library, ours, seen, acts, end, findUpdate } = start();
    await findUpdate();
    expect(library).toMatchObject({ autoDownload: true, autoInstallOnAppQuit: false });
    expect(seen).toEqual(['checking', 'downloading', 'ready']);
    expect(ours.view).toEqual(ready);
    expect(acts).toEqual(['check']);
    void ours.install(end);
    void ours.install(end);
    await expect.poll(() => acts).toEqual(['check', 'end', 'quit and install']);
  });

  it('has nothing to install before there is an update', async () => {
    const { ours, acts, end } = start();
    expect(await ours.install(end)).toBeNull();
    expect(acts).toEqual([]);
  });

  it('does not search again for an update that is already there', async () => {
    const { ours, acts, findUpdate } = start();
    await findUpdate();
    await ours.check();
    expect(acts).toEqual(['check']);
    expect(ours.view.state).toBe('ready');
  });

  it('says that there is none, or that it could not look', async () => {
    const { library, ours } = start();
    await ours.check();
    library.emit('update-not-available', { version: '1.0.0' });
    expect(ours.view.state).toBe('current');
    library.emit('error', new Error('no network'));
    expect(ours.view).toMatchObject({ state: 'failed', problem: 'no network' });
  });

  it('says that it could not be loaded itself', async () => {
    const load = () => Promise.reject(new Error('a part of the program is missing'));
    const ours = createUpdater({ load, onChange: () => {} });
    await ours.check();
    expect(ours.view).toMatchObject({ state: 'failed', problem: 'a part of the program is missing' });
  });

  it('does not update a managed installation', async () => {
    const ours = createUpdater({ load: null, onChange: () => expect.fail() });
    await ours.check();
    expect(ours.view.state).toBe('managed');
  });

  it('does not update an installation that cannot be replaced, such as from a tar.gz', async () => {
    const { ours, acts } = start({ found: null });
    await ours.check();
    await ours.check();
    expect(ours.view.state).toBe('managed');
    expect(acts).toEqual(['check']);
  });

  it('reports the progress of a download, and searches again after a cancelled one', async () => {
    const cancellationToken = new CancellationToken();
    const { library, ours, acts } = start({ found: { cancellationToken } });
    await ours.check();
    library.emit('update-available', { version: '2.0.0' });
    library.emit('download-progress', { percent: 41.7 });
    expect(ours.view).toMatchObject({ state: 'downloading', version: '2.0.0', percent: 41 });
    ours.cancel();
    expect(cancellationToken.cancelled).toBe(true);
    library.emit('update-cancelled', { version: '2.0.0' });
    expect(ours.view).toMatchObject({ state: 'idle', version: null });
    await ours.check();
    expect(acts).toEqual(['check', 'check']);
  });

  it('survives a download that fails', async () => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', hear);
    const { library, ours } = start({ found: { downloadPromise: Promise.reject(new Error('the disk is full')) } });
    await ours.check();
    library.emit('error', new Error('the disk is full'));
    await new Promise(setImmediate);
    process.off('unhandledRejection', hear);
    expect(unhandled).toEqual([]);
    expect(ours.view).toMatchObject({ state: 'failed', problem: 'the disk is full' });
  });
});

describe('an installation that fails', () => {
  it('says why, and can be tried again', async () => {
    const { library, ours, acts, end, findUpdate } = start();
    library.quitAndInstall = () => void library.emit('error', new Error('the signature is another’s'));
    await findUpdate();
    expect(await ours.install(end)).toBe('the signature is another’s');
    expect(ours.view).toEqual({ ...ready, problem: 'the signature is another’s' });
    expect(await ours.install(end)).toBe('the signature is another’s');
    expect(acts).toEqual(['check', 'end', 'end']);
  });

  it('can be tried again if something did not end', async () => {
    const { library, ours, acts, end, findUpdate } = start();
    library.quitAndInstall = () => void library.emit('error', new Error('no file'));
    await findUpdate();
    await expect(ours.install(() => Promise.reject(new Error('still at work')))).rejects.toThrow('still at work');
    expect(await ours.install(end)).toBe('no file');
    expect(acts).toEqual(['check', 'end']);
  });

  it('includes one that throws', async () => {
    const { library, ours, end, findUpdate } = start();
    library.quitAndInstall = () => {
      throw new Error('no file');
    };
    await findUpdate();
    expect(await ours.install(end)).toBe('no file');
  });

  it('includes one after which nothing happens', async () => {
    vi.useFakeTimers();
    const { ours, end, findUpdate } = start();
    await findUpdate();
    const outcome = ours.install(end);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(ours.view.problem).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await outcome).toBe('the system did not install it in time');
  });
});
