import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createConfPersistence } from '../../../server/config/conf-persistence.ts';
import { type ConfigStore, openConfigStore } from '../../../server/config/config-store.ts';

interface ConfigFolder {
  folder: string;
  /** Path of its configuration, which exists after the first commit. */
  path: string;
  /** Path of the previous configuration. */
  backup: string;
  open(): Promise<ConfigStore>;
}

/** A folder that is empty at the beginning of each test and removed afterwards. Registers the hooks. */
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
    open: () => openConfigStore({ persistence: createConfPersistence(path) }),
  };
}
