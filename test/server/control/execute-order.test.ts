import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openConfigStore } from '../../../server/config/config-store.ts';
import { type ConfigPersistence, createConfPersistence } from '../../../server/config/persistence.ts';
import type { SecretStore } from '../../../server/secrets/secret-store.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { createMemorySecretStore } from '../../support/stand-ins.ts';
import { refusalOf } from './control-gateway.ts';

let folder: string;
let sluice: TestGateway;
let steps: string[];
let secrets: SecretStore;
let diskIsFull: boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-order-'));
  steps = [];
  diskIsFull = false;
  const memory = createMemorySecretStore();
  secrets = {
    ...memory,
    async set(name, value) {
      steps.push(`set ${name}`);
      await memory.set(name, value);
    },
    async delete(name) {
      steps.push(`delete ${name}`);
      await memory.delete(name);
    },
  };
  sluice = await startGateway({
    folder,
    ports: {
      config: await openConfigStore({ persistence: watched(createConfPersistence(join(folder, 'config.json'))) }),
      openSecrets: async () => secrets,
    },
  });
});
afterEach(async () => {
  await sluice.stop();
  await rm(folder, { recursive: true, force: true });
});

function watched(persistence: ConfigPersistence): ConfigPersistence {
  return {
    ...persistence,
    async write(value) {
      if (diskIsFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      steps.push('write config');
      await persistence.write(value);
    },
  };
}

const addProvider = () =>
  sluice.gateway.execute({
    type: 'provider.add',
    id: 'p',
    provider: { baseUrl: 'https://api.example.com/v1', models: ['m'] },
    credentials: [{ secret: 'sk-first' }],
  });

describe('secrets and configuration', () => {
  test('a secret is stored before the configuration refers to it, and deleted after it no longer does', async () => {
    await addProvider();
    await sluice.gateway.execute({ type: 'key.create', id: 'k' });
    await sluice.gateway.execute({ type: 'key.revoke', id: 'k' });
    await sluice.gateway.execute({ type: 'provider.remove', id: 'p' });
    expect(steps).toEqual([
      ...['set provider/p/c1', 'write config'],
      ...['set key/k', 'write config'],
      ...['write config', 'delete key/k'],
      ...['write config', 'delete provider/p/c1'],
    ]);
  });

  test('a configuration that cannot be written leaves no new secret behind', async () => {
    diskIsFull = true;
    expect(await refusalOf(addProvider())).toMatchObject({ code: 'internal' });
    expect(await secrets.list()).toEqual([]);
    expect(await sluice.gateway.query({ type: 'config' })).toMatchObject({ revision: 1, config: { providers: [] } });
  });

  test('a configuration that cannot be written leaves the old secret in place', async () => {
    await addProvider();
    diskIsFull = true;
    const replace = sluice.gateway.execute({ type: 'credential.set', provider: 'p', id: 'c1', secret: 'sk-second' });
    expect(await refusalOf(replace)).toMatchObject({ code: 'internal' });
    expect(await secrets.get('provider/p/c1')).toBe('sk-first');
  });

  test('a secret store that refuses leaves the configuration as it was', async () => {
    secrets.set = async () => {
      throw new Error('the keychain is locked');
    };
    await expect(addProvider()).rejects.toThrow('the keychain is locked');
    expect(steps).not.toContain('write config');
    expect(await secrets.list()).toEqual([]);
  });

  test('concurrent commands are executed one after the other', async () => {
    const results = await Promise.all(
      Array.from({ length: 5 }, () => sluice.gateway.execute({ type: 'key.create', keepSecret: false })),
    );
    expect(results.map(({ revision, key }) => [revision, key.id])).toEqual(
      [1, 2, 3, 4, 5].map((number) => [number + 1, `key-${number}`]),
    );
  });
});
