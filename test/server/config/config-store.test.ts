import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openConfPersistence } from '../../../server/config/conf-persistence.ts';
import { type ConfigStore, openConfigStore } from '../../../server/config/config-store.ts';
import { firstRunConfig } from '../../../server/config/first-run.ts';
import type { ConfigPersistence } from '../../../server/config/persistence.ts';
import { type Config, configSchema } from '../../../server/contract/config.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';

const planted = 'sk-planted-4711';
let folder: string;
let path: string;
let backup: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-config-'));
  path = join(folder, 'config.json');
  backup = join(folder, 'config.backup.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () => openConfigStore({ persistence: openConfPersistence(path) });
const withPort = (port: number) => (config: Config) => ({ ...config, settings: { ...config.settings, port } });
const portOf = (store: ConfigStore) => store.current.config.settings.port;
const portIn = async (file: string) => configSchema.parse(JSON.parse(await readFile(file, 'utf8'))).settings.port;

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  expect(`${error.message}${error.stack}`).not.toContain(planted);
  return error;
}

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

  test('stands though a listener fails, and the other listeners hear of it', async () => {
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

  test('after the file was removed writes it again', async () => {
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

describe('a write that fails', () => {
  test('of the backup leaves the old revision in force', async () => {
    const store = await open();
    await store.commit(withPort(1));
    await rm(backup);
    await mkdir(join(backup, 'in-the-way'), { recursive: true });
    const error = await failureOf(store.commit(withPort(2)));
    expect(error.message).toMatch(/config\.backup\.json cannot be written: .+ The configuration is unchanged\./);
    expect(store.current.revision).toBe(2);
    expect(portOf(store)).toBe(1);
    expect(await portIn(path)).toBe(1);
    await rm(backup, { recursive: true });
    await store.commit(withPort(3));
    expect(await portIn(path)).toBe(3);
  });

  test('half-way is undone on the disk as well', async () => {
    const real = openConfPersistence(path);
    let isFull = false;
    const persistence: ConfigPersistence = {
      ...real,
      write: async (value) => {
        if (!isFull) return real.write(value);
        await writeFile(path, JSON.stringify(value).slice(0, 50));
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      },
    };
    const store = await openConfigStore({ persistence });
    isFull = true;
    await failureOf(store.commit(withPort(1)));
    expect(await readdir(folder)).toEqual([]);
    isFull = false;
    await store.commit(withPort(1));
    isFull = true;
    expect((await failureOf(store.commit(withPort(2)))).message).toContain('the disk is full (ENOSPC)');
    expect(await portIn(path)).toBe(1);
    isFull = false;
    await store.commit(withPort(3));
    expect([await portIn(path), await portIn(backup)]).toEqual([3, 3]);
  });

  test('because the disk takes no more is noticed, though conf reports success', async () => {
    const minimal = '{"version":1}';
    await writeFile(path, minimal);
    const script = join(import.meta.dirname, 'commit-under-limit.ts');
    const run = spawnSync('sh', ['-c', 'ulimit -f 16 && exec "$0" "$1" "$2"', process.execPath, script, path], {
      encoding: 'utf8',
      env: plainEnvironment,
    });
    expect(run.status, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual({
      message: `${path} cannot be written: it was written only in part; the disk may be full. The configuration is unchanged.`,
      revision: 1,
    });
    const store = await open();
    expect(store).toMatchObject({ notices: [], isFirstRun: false });
    expect(store.current.config).toEqual(configSchema.parse({ version: 1 }));
  });
});

describe('a broken file', () => {
  const broken = [
    ['not JSON', `{"version":1,"keys":[${planted}`],
    ['refused by the schema', `{"version":1,"providers":[{"id":"a","baseUrl":"${planted}"}],"unknown":1}`],
    ['of another kind', '[]'],
    ['empty', ''],
  ] as const;

  async function expectSetAside(store: ConfigStore, text: string) {
    const aside = (await readdir(folder)).filter((name) => /^config\.broken-[0-9TZ-]+\.json$/.test(name));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(folder, aside[0] ?? ''), 'utf8')).toBe(text);
    expect(store.notices).toHaveLength(1);
    expect(store.notices[0]).toContain(aside[0]);
    expect(store.notices[0]).toContain(`move it back to ${path}`);
    expect(store.notices[0]).not.toContain(planted);
    expect(store.isFirstRun).toBe(false);
  }

  test.each(broken)('that is %s is set aside and named, and the backup takes its place', async (_, text) => {
    const first = await open();
    await first.commit(withPort(1));
    await first.commit(withPort(2));
    await writeFile(path, text);
    const store = await open();
    await expectSetAside(store, text);
    expect(portOf(store)).toBe(2);
    expect(await portIn(path)).toBe(2);
    expect(store.replaced).toEqual({ by: 'backup', movedTo: expect.stringContaining('config.broken-') });
    expect(await open()).toMatchObject({ notices: [], replaced: null });
  });

  test.each(broken)('that is %s and has no backup is set aside, and the configuration is empty', async (_, text) => {
    await writeFile(path, text);
    const store = await open();
    await expectSetAside(store, text);
    expect(store.current.config).toEqual(firstRunConfig());
    expect(store.replaced).toEqual({ by: 'nothing', movedTo: expect.stringContaining('config.broken-') });
  });

  test('with a broken backup too ends in an empty configuration, and the backup stays as it is', async () => {
    await writeFile(path, '{');
    await writeFile(backup, '{"version":');
    const store = await open();
    await expectSetAside(store, '{');
    expect(store.current.config).toEqual(firstRunConfig());
    expect(await readFile(backup, 'utf8')).toBe('{"version":');
  });

  test('says where its fault is', async () => {
    await writeFile(path, '{\n  "version": 1,\n  "keys": x\n}');
    expect((await open()).notices[0]).toContain('not valid JSON at line 3, column 11');
  });
});

test('a missing file is replaced by its backup, and that is told', async () => {
  const first = await open();
  await first.commit(withPort(1));
  await first.commit(withPort(2));
  await rm(path);
  const store = await open();
  expect(portOf(store)).toBe(2);
  expect(store.notices).toEqual([expect.stringContaining(`${path} was missing`)]);
  expect(store.replaced).toEqual({ by: 'backup', movedTo: null });
  expect(await portIn(path)).toBe(2);
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

test('a file of a newer version is refused and left untouched', async () => {
  const text = '{"version":2,"shape":"unknown"}';
  await writeFile(path, text);
  const error = await failureOf(open());
  expect(error.message).toMatch(/config\.json cannot be used: it has version 2, made by a newer Sluice.*Update Sluice/);
  expect(await readFile(path, 'utf8')).toBe(text);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('a file that cannot be read is an error, not a broken file', async () => {
  await mkdir(path);
  expect((await failureOf(open())).message).toBe(`The configuration ${path} cannot be read: it is a folder (EISDIR).`);
  expect(await readdir(folder)).toEqual(['config.json']);
});
