import { describe, expect, test } from 'vitest';
import { type ConfigInput, configSchema } from '../../../server/contract/config.ts';
import { settingsSchema } from '../../../server/contract/settings.ts';
import { memberWithoutDefaults, withoutDefaults } from '../../../server/store/postgres/config-store.ts';

/** Each contains a value that is not the default: at the top level, in a nested object, or in a list. */
const stated: ConfigInput = {
  version: 2,
  providers: [
    { id: 'main', baseUrl: 'https://api.example/v1', models: ['a'], timeouts: { connectMs: 5 }, askUsage: false },
  ],
  aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'a', weight: 0 }] }],
  groups: [{ id: 'team', policy: { retries: 0, timeouts: { idleMs: 7 } }, order: [{ provider: 'main' }], cache: {} }],
  keys: [{ id: 'key', group: 'team', secret: 'env:KEY', enabled: false }],
  settings: { port: 1, limits: { jsonBodyBytes: 1 }, prices: { a: { input: 1 } }, joinPreset: { version: 1 } },
};

describe('what is stored of a configuration', () => {
  test('is what a person has set', () => {
    const config = configSchema.parse({
      version: 2,
      groups: [{ id: 'team' }],
      keys: [{ id: 'key', group: 'team', secret: 'env:KEY' }],
    });
    expect(withoutDefaults(config)).toEqual({
      version: 2,
      providers: [],
      aliases: [],
      groups: [{ id: 'team' }],
      keys: [{ id: 'key', group: 'team', secret: 'env:KEY' }],
      settings: {},
    });
  });

  test('is read as the same configuration', () => {
    for (const input of [stated, { version: 1 } as const]) {
      const config = configSchema.parse(input);
      expect(configSchema.parse(withoutDefaults(config))).toEqual(config);
    }
  });

  test('keeps each setting that differs from its default', () => {
    const defaults = settingsSchema.parse({});
    for (const name of Object.keys(defaults)) {
      const changed = { ...defaults, [name]: 'changed' };
      expect(memberWithoutDefaults('settings', changed)).toEqual({ [name]: 'changed' });
    }
  });

  test('is the same of the entries that a patch adds', () => {
    const { keys, settings } = configSchema.parse(stated);
    expect(withoutDefaults({ version: 2, keys: { at: 2, removed: 0, entries: keys }, settings })).toEqual({
      version: 2,
      keys: { at: 2, removed: 0, entries: [{ id: 'key', group: 'team', secret: 'env:KEY', enabled: false }] },
      settings: stated.settings,
    });
  });
});
