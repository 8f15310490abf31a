import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type ConfigStore, openConfigStore } from '../../../server/config/config-store.ts';
import { createConfPersistence } from '../../../server/config/persistence.ts';
import { type Config, configSchema } from '../../../server/contract/config.ts';
import { GatewayError } from '../../../server/contract/errors.ts';

// Checks what is written to the file and read from it.

export const planted = 'sk-planted-4711';

export const withPort = (port: number) => (config: Config) => ({ ...config, settings: { ...config.settings, port } });

export const portOf = (store: ConfigStore) => store.current.config.settings.port;

export const portIn = async (file: string) =>
  configSchema.parse(JSON.parse(await readFile(file, 'utf8'))).settings.port;

export async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  expect(`${error.message}${error.stack}`).not.toContain(planted);
  return error;
}

/**
 * The documented example of a declarative configuration file. It is a contract with scripts, so it must stay readable
 * for ever.
 */
export const exampleConfig = {
  version: 2,
  providers: [
    {
      id: 'main',
      dialect: 'openai',
      baseUrl: 'http://127.0.0.1:4010/v1',
      credentials: [{ id: 'c1', secret: 'env:MAIN_API_KEY' }],
      models: ['gpt-x', '*'],
      timeouts: { connectMs: 5000, firstByteMs: 60000, idleMs: 120000 },
    },
  ],
  aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-x', priority: 0, weight: 1 }] }],
  groups: [{ id: 'default', models: ['*'], providers: ['*'] }],
  keys: [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }],
} as const;

/** The example with another address for its provider. */
export function exampleAt(baseUrl: string) {
  const [main] = exampleConfig.providers;
  return { ...exampleConfig, providers: [{ ...main, baseUrl }] };
}

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
