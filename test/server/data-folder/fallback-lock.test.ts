import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimFolder } from '../../../server/data-folder/claim-folder.ts';
import {
  acquireFallbackLock,
  type FallbackLock,
  findFallbackFolder,
  findFallbackHolder,
} from '../../../server/data-folder/instance-lock.ts';
import { onlyIf } from '../../support/only-if.ts';

let dataDir: string;
const held: FallbackLock[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-fallback-'));
});
afterEach(async () => {
  for (const lock of held.splice(0)) await lock.release();
  await rm(dataDir, { recursive: true, force: true });
});

async function acquire(path = dataDir): Promise<FallbackLock> {
  const lock = await acquireFallbackLock(path);
  if (lock === null || 'holder' in lock) throw new Error(`not taken: ${JSON.stringify(lock)}`);
  held.push(lock);
  return lock;
}

test('if two use a folder that cannot be written, the second learns who has it, by whatever path it came', async () => {
  const lock = await acquire();
  const address = { host: '127.0.0.1', port: 1, instanceId: 'i1' };
  await lock.update(address);
  const link = join(dataDir, 'link');
  await symlink(dataDir, link);
  for (const path of [dataDir, link]) {
    expect(await acquireFallbackLock(path)).toEqual({ holder: expect.objectContaining(address) });
  }
});

test('one that began when the folder could not be written keeps another away when it can be', async () => {
  const lock = await acquire();
  await lock.update({ host: '127.0.0.1', port: 1, instanceId: 'i1' });
  expect(await claimFolder(dataDir)).toEqual({ holder: expect.objectContaining({ instanceId: 'i1' }) });
  await lock.release();
  const claim = await claimFolder(dataDir);
  expect('holder' in claim).toBe(false);
  if (!('holder' in claim)) await claim.lock.release();
});

test('its folder is private, and gone with the release', async () => {
  const lock = await acquire();
  expect((await stat(lock.folder)).mode & 0o777).toBe(0o700);
  expect(findFallbackFolder(dataDir)).toBe(lock.folder);
  await writeFile(join(lock.folder, 'admin.token'), 'x');
  await lock.release();
  await expect(stat(lock.folder)).rejects.toThrow('ENOENT');
  expect([findFallbackFolder(dataDir), await findFallbackHolder(dataDir)]).toEqual([undefined, undefined]);
});

test.runIf(onlyIf(process.platform !== 'win32', 'Windows has temporary files of each user apart'))(
  'a folder of that name that others can look into, or a link, is not used',
  async () => {
    const { folder, release } = await acquire();
    await release();
    await mkdir(folder);
    await chmod(folder, 0o755);
    expect(await acquireFallbackLock(dataDir)).toBeNull();
    await rm(folder, { recursive: true });
    await symlink(dataDir, folder);
    expect([await acquireFallbackLock(dataDir), await findFallbackHolder(dataDir)]).toEqual([null, undefined]);
    await rm(folder);
    expect(await readdir(dataDir)).toEqual([]);
  },
);
