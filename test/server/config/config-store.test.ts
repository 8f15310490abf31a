import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type ConfigStore, firstRunConfig } from '../../../server/config/config-store.ts';
import type { Config } from '../../../server/contract/config.ts';
import { configFolderInSuite, failureOf, planted, portIn, portOf, withPort } from './config-folder.ts';

const { folder, path, backup, open } = configFolderInSuite();

describe('a new data folder', () => {
  test('starts with the default group, writes nothing, and says it is the first run', async () => {
    const store = await open();
    expect(store.current).toEqual({ config: firstRunConfig(), revision: 1 });
    expect(store.current.config.groups).toMatchObject([{ id: 'default', models: ['*'], providers: ['*'] }]);
    expect(store).toMatchObject({ isFirstRun: true, readOnly: false, notices: [] });
    expect(await readdir(folder)).toEqual([]);
  });

  test('what is committed is there after a restart, in a private file', async () => {
    await (await open()).commit(withPort(1234));
    const store = await open();
    expect(portOf(store)).toBe(1234);
    expect(store).toMatchObject({ isFirstRun: false, notices: [] });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual(['config.backup.json', 'config.json']);
  });
});

describe('a commit', () => {
  test('raises the revision by one, tells once and freezes all the way down', async () => {
    const store = await open();
    const heard = vi.fn();
    const stop = store.onChange(heard);
    const result = await store.commit(withPort(1), 1);
    expect(result).toBe(store.current);
    expect(result.revision).toBe(2);
    expect(heard.mock.calls).toEqual([[result]]);
    expect(() => result.config.groups[0]?.models.push('x')).toThrow(TypeError);
    stop();
    await store.commit(withPort(2));
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test('many at once are all kept, one after the other', async () => {
    const store = await open();
    const add = (id: string) => (config: Config) => ({ ...config, groups: [...config.groups, { id }] });
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => store.commit(add(`g${index}`))));
    expect(results.map((result) => result.revision)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
    expect((await open()).current.config.groups).toHaveLength(21);
  });

  test('for a revision that is no longer in force is a conflict', async () => {
    const store = await open();
    await store.commit(withPort(1), 1);
    expect((await failureOf(store.commit(withPort(2), 1))).code).toBe('conflict');
    expect(portOf(store)).toBe(1);
  });

  test('that the schema refuses names the place, not the value, and changes nothing', async () => {
    const store = await open();
    const heard = vi.fn();
    store.onChange(heard);
    const provider = { id: 'main', baseUrl: 'http://127.0.0.1:1/v1', credentials: [{ id: 'c1', secret: planted }] };
    const error = await failureOf(store.commit({ version: 1, providers: [provider] }));
    expect(error.code).toBe('invalid_command');
    expect(error.message).toContain('providers[0].credentials[0].secret: use env:NAME');
    expect(store.current.revision).toBe(1);
    expect(heard).not.toHaveBeenCalled();
    expect(await readdir(folder)).toEqual([]);
  });

  test('is kept as a backup too, private as well', async () => {
    const store = await open();
    for (const port of [1, 2]) {
      await store.commit(withPort(port));
      expect([await portIn(backup), await portIn(path)]).toEqual([port, port]);
    }
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
  });

  test('succeeds even if a listener fails, and the other listeners are called', async () => {
    const store = await open();
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const heard = vi.fn();
    store.onChange(() => {
      throw new Error('listener failed');
    });
    store.onChange(heard);
    await store.commit(withPort(1));
    expect(heard).toHaveBeenCalledTimes(1);
    expect((await warned).message).toBe('listener failed');
  });

  test('is refused when something else changed the file, and that change is kept', async () => {
    const store = await open();
    await store.commit(withPort(1));
    for (const edited of ['{"version":1}', `{ "half": "${planted}`]) {
      await writeFile(path, edited);
      const error = await failureOf(store.commit(withPort(2)));
      expect(error.code).toBe('conflict');
      expect(error.message).toContain(path);
      expect(await readFile(path, 'utf8')).toBe(edited);
    }
    expect(store.current.revision).toBe(2);
  });

  test('after the file was removed creates it again', async () => {
    const store = await open();
    await store.commit(withPort(1));
    await rm(path);
    await store.commit(withPort(2));
    expect(await portIn(path)).toBe(2);
  });

  test('takes a file with fields left out as it is, until the first change', async () => {
    await writeFile(path, '{ "version": 1 }');
    const store = await open();
    expect(await readFile(path, 'utf8')).toBe('{ "version": 1 }');
    await store.commit(withPort(7));
    expect(await portIn(path)).toBe(7);
  });
});

describe('what was revoked', () => {
  const key = (id: string, enabled = true) => ({
    ...{ id, group: 'default', enabled, hash: `sha256:${id.padEnd(64, '0')}` },
  });
  const withKeys = (...keys: ReturnType<typeof key>[]) => ({ version: 1 as const, groups: [{ id: 'default' }], keys });
  const keysOf = (store: ConfigStore) => store.current.config.keys.map(({ id, enabled }) => [id, enabled]);

  test('last stays revoked, and what was disabled stays so, when the file is damaged', async () => {
    const store = await open();
    await store.commit(withKeys(key('a'), key('b'), key('c')));
    await store.commit(withKeys(key('a'), key('b', false)));
    await writeFile(path, '{"version":1,"keys":[');
    expect(keysOf(await open())).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  test('stays so where the program was killed before it wrote the backup, or a person changed the file', async () => {
    const store = await open();
    await store.commit(withKeys(key('a'), key('b')));
    await writeFile(path, JSON.stringify(withKeys(key('a'))));
    expect(keysOf(await open())).toEqual([['a', true]]);
    await writeFile(path, '');
    expect(keysOf(await open())).toEqual([['a', true]]);
  });

  test('stays so where the backup could not be written: then the change was refused', async () => {
    const store = await open();
    await store.commit(withKeys(key('a')));
    await rm(backup);
    await mkdir(join(backup, 'in-the-way'), { recursive: true });
    await failureOf(store.commit(withKeys()));
    expect(keysOf(store)).toEqual([['a', true]]);
    await rm(backup, { recursive: true });
    await store.commit(withKeys());
    await writeFile(path, '');
    expect(keysOf(await open())).toEqual([]);
  });
});
