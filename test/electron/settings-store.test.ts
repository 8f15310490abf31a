import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSettingsPersistence, openDesktopSettings } from '../../electron/settings-store.ts';
import { createConfPersistence } from '../../server/config/persistence.ts';
import { app } from './double/app.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
  app.setPath('userData', folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the configuration by electron-store', () => {
  const value = { version: 1, providers: [{ id: 'a.b', headers: { 'x.y': 'z' } }] };

  it('is the same file as the one of the engine without a desktop, for this user only', async () => {
    await createSettingsPersistence(join(folder, 'config.json')).write(value);
    await createConfPersistence(join(folder, 'headless.json')).write(value);
    const [ours, theirs] = ['config.json', 'headless.json'].map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(ours).toBe(theirs);
    expect(statSync(join(folder, 'config.json')).mode & 0o777).toBe(0o600);
    expect(createConfPersistence(join(folder, 'config.json')).read()).toEqual(value);
  });

  it('is replaced as a whole', async () => {
    const persistence = createSettingsPersistence(join(folder, 'config.json'));
    await persistence.write({ version: 1, gone: true });
    await persistence.write(value);
    expect(persistence.read()).toEqual(value);
  });

  it('that is broken is left for the engine to repair, and not emptied', () => {
    writeFileSync(join(folder, 'config.json'), '{ broken');
    expect(() => createSettingsPersistence(join(folder, 'config.json')).read()).toThrow(SyntaxError);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('{ broken');
  });
});

describe('the desktop’s own settings', () => {
  const path = () => join(folder, 'desktop.json');
  const fail = (error: unknown): void => expect.fail(String(error));
  const open = (notWritten = fail) => openDesktopSettings(path(), notWritten);

  it('are kept over a start', () => {
    const places = { '1': { x: 1, y: 2, width: 500, height: 600 } };
    open().update({ places });
    expect(open().current).toEqual({ notifications: {}, language: null, hotkey: null, trayCost: false, places });
  });

  it('are kept where a notification of an earlier version was turned off', () => {
    const places = { '1': { x: 1, y: 2, width: 500, height: 600 } };
    writeFileSync(path(), JSON.stringify({ notifications: { 'prompt-repeats': false }, language: 'zh-CN', places }));
    expect(open().current).toMatchObject({ language: 'zh-CN', places });
  });

  it.each(['{ broken', '{"places": 7}', '{"places": {"1": {"x": "left"}}}'])(
    'have their defaults if the file holds %s',
    (text) => {
      writeFileSync(path(), text);
      expect(open().current).toEqual({ notifications: {}, language: null, hotkey: null, trayCost: false, places: {} });
    },
  );

  describe('that cannot be written', () => {
    const places = { '1': { x: 1, y: 2, width: 500, height: 600 } };
    beforeEach(() => mkdirSync(path()));

    it('stay unchanged if a person changes them, who gets an error', () => {
      const settings = open();
      const change = () => settings.update({ notifications: { 'update-ready': false } });
      expect(change).toThrow(expect.objectContaining({ code: 'storage_unavailable' }));
      expect(settings.current.notifications).toEqual({});
    });

    it('are reported in the log if no person changed them, and apply until the end', () => {
      const notWritten: unknown[] = [];
      const settings = open((error) => void notWritten.push(error));
      settings.remember({ places });
      expect(notWritten).toHaveLength(1);
      expect(settings.current.places).toEqual(places);
    });
  });
});
