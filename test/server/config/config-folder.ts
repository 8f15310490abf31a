import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { openConfPersistence } from '../../../server/config/conf-persistence.ts';
import { type ConfigStore, openConfigStore } from '../../../server/config/config-store.ts';

interface ConfigFolder {
  folder: string;
  /** Of the configuration in it, which is there after the first commit. */
  path: string;
  /** Of the one before. */
  backup: string;
  open(): Promise<ConfigStore>;
}

/** A folder that is empty when a test begins, and removed after it. Registers the hooks. */
export function configFolderInSuite(): ConfigFolder {
  const folder = join(tmpdir(), `sluice-config-${randomUUID()}`);
  const path = join(folder, 'config.json');
  beforeEach(async () => {
    await mkdir(folder, { mode: 0o700 });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return {
    folder,
    path,
    backup: join(folder, 'config.backup.json'),
    open: () => openConfigStore({ persistence: openConfPersistence(path) }),
  };
}
