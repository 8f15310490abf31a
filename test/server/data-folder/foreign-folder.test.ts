/** A folder of another user, whose permissions Sluice cannot change. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { prepareDataFolder } from '../../../server/data-folder/claim-folder.ts';
import { onlyIf } from '../../support/only-if.ts';

vi.mock(import('node:fs'), async (original) => {
  const fs = await original();
  return { ...fs, chmodSync: vi.fn(fs.chmodSync) };
});

const parent = mkdtempSync(join(tmpdir(), 'sluice-foreign-'));
afterEach(() => {
  vi.mocked(chmodSync).mockReset();
  rmSync(parent, { recursive: true });
});

test.runIf(onlyIf(process.platform !== 'win32', 'Windows has no such permissions'))(
  'is told of at each start, with what to do about it, and a folder in it is private',
  () => {
    const path = join(parent, 'volume');
    mkdirSync(path);
    chmodSync(path, 0o2777);
    vi.mocked(chmodSync).mockImplementation((file) => {
      if (file === path) throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    const told = [
      `${path} can be read by other users of this machine, and that cannot be changed: this user may not change it (EPERM).`,
      `Choose a folder in ${path} with --data-dir: Sluice makes it for itself alone.`,
    ];
    expect(prepareDataFolder(path).notices).toEqual(told);
    expect(prepareDataFolder(path).notices).toEqual(told);
    expect(prepareDataFolder(join(path, 'own')).notices).toEqual([]);
  },
);
