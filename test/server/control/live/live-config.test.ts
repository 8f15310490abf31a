import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import type { ConfigStore } from '../../../../server/config/config-store.ts';
import { configSchema } from '../../../../server/contract/config.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { createLiveConfig } from '../../../../server/control/live/live-config.ts';
import { credentialSecretName } from '../../../../server/secrets/secret-store.ts';
import { createMemorySecretStore } from '../../../support/stand-ins.ts';

afterEach(() => void vi.useRealTimers());

const name = credentialSecretName('main', 'c1');
const config = configSchema.parse({
  version: 1,
  providers: [
    {
      id: 'main',
      name: 'Main',
      preset: 'custom',
      baseUrl: 'https://main.example/v1',
      credentials: [{ id: 'c1', secret: 'keychain' }],
    },
  ],
});
const stored: ConfigStore = {
  current: { config, revision: 1 },
  readOnly: false,
  isFirstRun: false,
  notices: [],
  removed: [],
  replaced: null,
  commit: () => Promise.reject(new Error('not asked')),
  onChange: () => () => {},
};

/** `problem` is the error of the secret store's first two reads. */
async function loadWith(problem: Error) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const memory = createMemorySecretStore({ [name]: 'upstream-secret' });
  const get = vi.fn(async (asked: string) => {
    if (get.mock.calls.length <= 2) throw problem;
    return memory.get(asked);
  });
  const live = await createLiveConfig({
    config: stored,
    openSecrets: async () => ({ ...memory, get }),
    env: {},
    ownAddresses: new Set(),
    discovered: () => new Map(),
    log: pino({ enabled: false }),
  });
  return { live, get };
}

test('secrets are read again until their store can be reached', async () => {
  const { live, get } = await loadWith(new GatewayError('storage_unavailable', 'the database is away'));
  expect(live.hasSecret(name)).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([live.hasSecret(name), get.mock.calls.length]).toEqual([false, 2]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(live.hasSecret(name)).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(get).toHaveBeenCalledTimes(3);
  await live.stop();
});

test('a secret store that a person must unlock is not queried repeatedly', async () => {
  const { live, get } = await loadWith(new GatewayError('invalid_value', 'the keychain is locked'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(get).toHaveBeenCalledTimes(1);
  await live.stop();
});
