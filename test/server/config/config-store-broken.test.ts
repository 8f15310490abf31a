import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ConfigStore, emptyConfig, openConfigStore } from '../../../server/config/config-store.ts';
import { type ConfigPersistence, createConfPersistence } from '../../../server/config/persistence.ts';
import { configSchema } from '../../../server/contract/config.ts';
import { plainEnvironment } from '../../support/program.ts';
import { configFolderInSuite, failureOf, planted, portIn, portOf, withPort } from './config-folder.ts';

const { folder, path, backup, open } = configFolderInSuite();

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
    const real = createConfPersistence(path);
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

  test('because the disk is full is noticed, although conf reports success', async () => {
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
    expect(store.current.config).toEqual(emptyConfig());
    expect(store.replaced).toEqual({ by: 'nothing', movedTo: expect.stringContaining('config.broken-') });
  });

  test('with a broken backup too ends in an empty configuration, and the backup stays as it is', async () => {
    await writeFile(path, '{');
    await writeFile(backup, '{"version":');
    const store = await open();
    await expectSetAside(store, '{');
    expect(store.current.config).toEqual(emptyConfig());
    expect(await readFile(backup, 'utf8')).toBe('{"version":');
  });

  test('says where its fault is', async () => {
    await writeFile(path, '{\n  "version": 1,\n  "keys": x\n}');
    expect((await open()).notices[0]).toContain('not valid JSON at line 3, column 11');
  });
});

test('a missing file is replaced by its backup, and that is reported', async () => {
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

test('a file of a newer version is refused and left untouched', async () => {
  const text = '{"version":3,"shape":"unknown"}';
  await writeFile(path, text);
  const error = await failureOf(open());
  expect(error.message).toMatch(/config\.json cannot be used: it has version 3, made by a newer Sluice.*Update Sluice/);
  expect(await readFile(path, 'utf8')).toBe(text);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('a file that cannot be read is an error, not a broken file', async () => {
  await mkdir(path);
  expect((await failureOf(open())).message).toBe(`The configuration ${path} cannot be read: it is a folder (EISDIR).`);
  expect(await readdir(folder)).toEqual(['config.json']);
});
