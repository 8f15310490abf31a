import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareDataFolder, removeLeftovers } from '../../../server/data-folder/claim-folder.ts';
import { onlyIf } from '../../support/only-if.ts';

let parent: string;
let path: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-data-'));
  path = join(parent, 'a', 'data');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

test('the folder and its parts are made for this user only', async () => {
  const folder = prepareDataFolder(path);
  expect(folder).toEqual({
    path,
    tmpPath: join(path, 'tmp'),
    logsPath: join(path, 'logs'),
    notices: [],
    problem: null,
  });
  for (const each of [path, folder.tmpPath, folder.logsPath]) expect(await modeOf(each)).toBe(0o700);
  expect(await readdir(folder.tmpPath)).toEqual(['CACHEDIR.TAG']);
});

test('permissions that are too open are closed, on its own files and on no others', async () => {
  prepareDataFolder(path);
  const own = [
    'config.json',
    'config.backup.json',
    'secrets.enc',
    'secrets.key',
    'instance.json',
    'ledger.sqlite',
    'ledger.sqlite-wal',
  ];
  for (const name of [...own, 'notes.sh']) {
    await writeFile(join(path, name), '');
    await chmod(join(path, name), 0o755);
  }
  await chmod(path, 0o755);
  await chmod(join(path, 'tmp'), 0o777);
  expect(prepareDataFolder(path).notices).toEqual([
    expect.stringMatching(/secrets\.key could be read by other users of this machine until now/),
  ]);
  expect(prepareDataFolder(path).notices).toEqual([]);
  expect(await modeOf(path)).toBe(0o700);
  expect(await modeOf(join(path, 'tmp'))).toBe(0o700);
  for (const name of own) expect((await modeOf(join(path, name))) & 0o077, name).toBe(0);
  expect(await modeOf(join(path, 'notes.sh'))).toBe(0o755);
});

test('what a killed program left is removed; everything else stays', async () => {
  const folder = prepareDataFolder(path);
  await mkdir(join(folder.tmpPath, 'upload-folder'));
  await writeFile(join(folder.tmpPath, 'upload-folder', 'part'), 'x');
  await writeFile(join(folder.tmpPath, 'upload'), 'x');
  const stay = ['config.json', 'secrets.enc', 'mine.tmp-0123456789abcdef', 'config.json.tmp-mine'];
  const leave = [
    'config.json.tmp-1234567890abcdef',
    'secrets.enc.tmp-0123456789abcdef',
    'config.backup.json.tmp-0123456789abcdef',
  ];
  for (const name of [...stay, ...leave]) await writeFile(join(path, name), '');
  prepareDataFolder(path);
  expect(await readdir(folder.tmpPath)).toContain('upload');
  removeLeftovers(folder);
  expect(await readdir(folder.tmpPath)).toEqual(['CACHEDIR.TAG']);
  expect((await readdir(path)).sort()).toEqual([...stay, 'logs', 'tmp'].sort());
});

test('a tmp folder that somebody else filled is never emptied', async () => {
  await mkdir(join(path, 'tmp'), { recursive: true });
  await writeFile(join(path, 'tmp', 'thesis.txt'), 'x');
  removeLeftovers(prepareDataFolder(path));
  expect(await readdir(join(path, 'tmp'))).toEqual(['thesis.txt']);
});

test('a folder that cannot be used is a clear error', async () => {
  await writeFile(join(parent, 'a'), 'a file');
  expect(() => prepareDataFolder(path)).toThrow(
    `The data folder ${path} cannot be used: a part of its path is not a folder (ENOTDIR). Choose another with --data-dir, or make it writable for this user.`,
  );
});

test('a folder that all users share is refused and stays as it is', async () => {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o1777);
  expect(() => prepareDataFolder(path)).toThrow(`The data folder ${path} is shared by all users.`);
  expect((await stat(path)).mode & 0o7777).toBe(0o1777);
  expect(await readdir(path)).toEqual([]);
});

test('a folder that cannot be made is refused with the reason', async () => {
  await mkdir(parent, { recursive: true });
  await writeFile(join(parent, 'file'), '');
  const refusal = (folder: string) => () => prepareDataFolder(join(parent, folder));
  expect(refusal('file')).toThrow('cannot be used: EEXIST');
  expect(refusal('file/data')).toThrow('cannot be used: a part of its path is not a folder');
});

test.runIf(onlyIf(process.platform === 'linux', 'only Linux has /proc'))('a folder below /proc is refused', () => {
  expect(() => prepareDataFolder('/proc/sluice/data')).toThrow('cannot be used: there is no such file');
});
