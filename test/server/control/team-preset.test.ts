import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import {
  type ControlGateway,
  type ControlGatewayOptions,
  gatherEvents,
  refusalOf,
  startControlGateway,
} from './control-gateway.ts';
import { acmePreset } from './team-preset-file.ts';

let sluice: ControlGateway | undefined;
afterEach(async () => {
  await sluice?.stop();
  sluice = undefined;
});

async function open(config: Partial<ConfigInput> = {}, options: ControlGatewayOptions = {}): Promise<ControlGateway> {
  sluice = await startControlGateway({ config, ...options });
  return sluice;
}

const locking = (...locked: string[]) => ({ ...acmePreset, locked });
const ownProvider = { id: 'own', baseUrl: 'http://127.0.0.1:9/own/v1', credentials: [{ id: 'c1' }], models: ['mine'] };

describe('an imported team preset', () => {
  test('shows everything that it would change, and changes nothing', async () => {
    const { gateway, configText } = await open();
    const before = await configText();
    const preview = await gateway.query({ type: 'team-preset-preview', preset: locking('groups/default') });
    expect(preview).toEqual({
      revision: 1,
      preset: {
        ...{ source: 'imported', name: 'Acme engineering', organisation: 'Acme' },
        ...{ contact: 'it@acme.example', version: '2026-11' },
      },
      changes: [
        {
          ...{ part: 'provider', name: 'acme', kind: 'added' },
          fields: [
            { name: 'name', before: null, after: '"Acme models"' },
            { name: 'baseUrl', before: null, after: '"http://127.0.0.1:9/acme/v1"' },
            { name: 'credentials', before: null, after: '[{"id":"own","label":"Your own key, from the intranet"}]' },
            { name: 'models', before: null, after: '["gpt-acme"]' },
          ],
        },
        {
          ...{ part: 'alias', name: 'team/fast', kind: 'added' },
          fields: [{ name: 'targets', before: null, after: '[{"provider":"acme","model":"gpt-acme"}]' }],
        },
        {
          ...{ part: 'group', name: 'default', kind: 'changed' },
          fields: [
            { name: 'models', before: '["*"]', after: '["gpt-*","team/*"]' },
            { name: 'policy.retries', before: '2', after: '5' },
          ],
        },
        {
          ...{ part: 'setting', name: 'ledger.retentionDays', kind: 'changed' },
          fields: [{ name: 'ledger.retentionDays', before: '90', after: '30' }],
        },
      ],
      locked: ['groups/default'],
      enteredAnew: [],
    });
    expect(await configText()).toBe(before);
  });

  test('is laid over what is there, and says which credentials are still missing', async () => {
    const { gateway } = await open({ providers: [ownProvider], settings: { demo: 'off' } });
    const applied = await gateway.execute({ type: 'team-preset.apply', preset: acmePreset, expectedRevision: 1 });
    expect(applied).toEqual({ revision: 2, missingSecrets: ['acme/own'] });
    const { config } = await gateway.query({ type: 'config' });
    expect(config.providers.map(({ id }) => id)).toEqual(['own', 'acme']);
    expect(config.groups).toMatchObject([
      { id: 'default', models: ['gpt-*', 'team/*'], policy: { retries: 5, fallbacks: 3 } },
    ]);
    expect(config.settings).toMatchObject({ demo: 'off', ledger: { retentionDays: 30, retentionRows: 1_000_000 } });
    expect(config.keys.map(({ id }) => id)).toEqual(['k1']);
    expect(JSON.stringify(config)).not.toContain('teamPreset');
  });

  test('once applied finds nothing more to change, and each person adds only a credential', async () => {
    const { gateway } = await open();
    await gateway.execute({ type: 'team-preset.apply', preset: locking('providers') });
    await gateway.execute({ type: 'credential.set', provider: 'acme', id: 'own', secret: 'sk-mine' });
    const { changes } = await gateway.query({ type: 'team-preset-preview', preset: acmePreset });
    expect(changes).toEqual([]);
    expect(await gateway.execute({ type: 'team-preset.apply', preset: acmePreset })).toMatchObject({
      missingSecrets: [],
    });
    expect(await sluice?.secrets.get('provider/acme/own')).toBe('sk-mine');
  });

  test('is refused where the configuration has changed since the preview', async () => {
    const { gateway } = await open();
    const apply = gateway.execute({ type: 'team-preset.apply', preset: acmePreset, expectedRevision: 7 });
    expect(await refusalOf(apply)).toMatchObject({ code: 'conflict' });
  });

  test.each([
    [
      'where a credential is',
      { providers: [{ ...acmePreset.providers[0], credentials: [{ id: 'own', secret: 'env:AWS_KEY' }] }] },
    ],
    ['a host to listen on', { settings: { host: '0.0.0.0' } }],
    ['origins that may call', { settings: { allowedOrigins: ['https://evil.example'] } }],
    ['certificate authorities', { settings: { extraCaFiles: ['/tmp/ca.pem'] } }],
  ])('may not set %s, because no one vouches for it', async (_what, changes) => {
    const { gateway } = await open();
    const preset = { ...acmePreset, ...changes };
    for (const work of [
      gateway.query({ type: 'team-preset-preview', preset }),
      gateway.execute({ type: 'team-preset.apply', preset }),
    ])
      expect(await refusalOf(work)).toMatchObject({
        code: 'invalid_value',
        message: expect.stringContaining('administrator'),
      });
  });

  test('that does not go together with what is there is refused whole', async () => {
    const { gateway } = await open();
    const aliases = [{ name: 'lost', targets: [{ provider: 'nobody', model: 'm' }] }];
    const apply = gateway.execute({ type: 'team-preset.apply', preset: { ...acmePreset, aliases } });
    expect(await refusalOf(apply)).toMatchObject({
      code: 'invalid_value',
      message: expect.stringContaining('"nobody"'),
    });
    expect(await gateway.query({ type: 'config' })).toMatchObject({ revision: 1 });
  });

  test('cannot make Sluice call itself', async () => {
    const { gateway, origin } = await open();
    const providers = [{ ...acmePreset.providers[0], baseUrl: `${origin}/v1` }];
    const preview = gateway.query({ type: 'team-preset-preview', preset: { ...acmePreset, providers } });
    expect(await refusalOf(preview)).toMatchObject({ code: 'invalid_command', param: 'baseUrl' });
  });
});

describe('a preset that sends a known provider elsewhere', () => {
  const main = { id: 'main', baseUrl: 'https://api.example.com/v1', models: ['m'] };
  const env = { MAIN_KEY: 'sk-env' };
  const elsewhere = (changes: object) => ({
    ...{ teamPreset: 1, name: 'Trap', organisation: 'Nobody' },
    providers: [{ ...main, ...changes }],
  });
  const openWithSecrets = () =>
    open(
      { providers: [{ ...main, credentials: [{ id: 'c1' }, { id: 'c2', secret: 'env:MAIN_KEY' }] }] },
      { secrets: { 'provider/main/c1': 'sk-stored' }, ports: { env } },
    );

  test.each([
    ['another host', { baseUrl: 'https://evil.example/v1' }],
    ['another path, which may be another tenant', { baseUrl: 'https://api.example.com/evil/v1' }],
    ['another scheme', { baseUrl: 'http://api.example.com/v1' }],
    ['a proxy', { proxy: 'http://evil.example:3128' }],
  ])('by %s takes no credential along: each is asked for again', async (_what, changes) => {
    const { gateway, secrets } = await openWithSecrets();
    const preview = await gateway.query({ type: 'team-preset-preview', preset: elsewhere(changes) });
    expect(preview.enteredAnew).toEqual(['main/c1', 'main/c2']);
    const { missingSecrets } = await gateway.execute({ type: 'team-preset.apply', preset: elsewhere(changes) });
    expect(missingSecrets).toEqual(['main/c1', 'main/c2']);
    expect(await secrets.list()).toEqual([]);
    expect((await gateway.query({ type: 'providers' }))[0]?.credentials).toMatchObject([
      { id: 'c1', reference: 'keychain', hasSecret: false },
      { id: 'c2', reference: 'keychain', hasSecret: false },
    ]);
  });

  test('is not stored where the old credential cannot be deleted', async () => {
    const { gateway, secrets } = await openWithSecrets();
    secrets.delete = async () => {
      throw new Error('the keychain is locked');
    };
    const apply = gateway.execute({
      type: 'team-preset.apply',
      preset: elsewhere({ baseUrl: 'https://evil.example/v1' }),
    });
    await expect(apply).rejects.toThrow('the keychain is locked');
    expect((await gateway.query({ type: 'providers' }))[0]?.baseUrl).toBe(main.baseUrl);
    expect(await secrets.get('provider/main/c1')).toBe('sk-stored');
  });

  test('takes none along as an imported configuration either', async () => {
    const { gateway, secrets } = await openWithSecrets();
    const { config } = await gateway.query({ type: 'config' });
    const providers = config.providers.map((provider) => ({ ...provider, baseUrl: 'https://evil.example/v1' }));
    const imported = { ...config, providers };
    const preview = await gateway.query({ type: 'import-preview', config: imported });
    expect(preview.enteredAnew).toEqual(['main/c1']);
    const result = await gateway.execute({ type: 'config.import', config: imported });
    expect(result.missingSecrets).toEqual(['main/c1']);
    expect(await secrets.list()).toEqual([]);
  });

  test('and that only writes the same address differently keeps the credentials', async () => {
    const { gateway, secrets } = await openWithSecrets();
    const preset = elsewhere({ baseUrl: 'https://API.example.com:443/v1/', name: 'Main' });
    expect(await gateway.execute({ type: 'team-preset.apply', preset })).toMatchObject({ missingSecrets: [] });
    expect(await secrets.get('provider/main/c1')).toBe('sk-stored');
  });
});

describe('what a preset locks', () => {
  const openLocked = async (...locked: string[]) => {
    const opened = await open({
      providers: [ownProvider],
      aliases: [{ name: 'mine', targets: [{ provider: 'own', model: 'mine' }] }],
    });
    await opened.gateway.execute({ type: 'team-preset.apply', preset: locking(...locked) });
    return opened.gateway;
  };

  test.each([
    ['groups/default/models', { type: 'group.put', group: { id: 'default', models: ['*'], policy: { retries: 5 } } }],
    ['groups', { type: 'group.put', group: { name: 'New' } }],
    ['providers/acme', { type: 'provider.update', id: 'acme', changes: { baseUrl: 'http://127.0.0.1:9/else/v1' } }],
    ['providers/acme', { type: 'provider.update', id: 'acme', changes: { models: 'discover' } }],
    ['providers', { type: 'provider.add', provider: { baseUrl: 'http://127.0.0.1:9/new/v1' } }],
    ['providers', { type: 'provider.set-enabled', id: 'own', enabled: true }],
    ['aliases', { type: 'alias.put', alias: { name: 'new', targets: [{ provider: 'own', model: 'mine' }] } }],
    ['aliases/team/fast', { type: 'alias.remove', name: 'team/fast' }],
    [
      'aliases/team/fast',
      { type: 'alias.put', alias: { name: 'team/fast', targets: [{ provider: 'own', model: 'mine' }] } },
    ],
    ['aliases', { type: 'alias.put', alias: { name: 'mine', targets: [{ provider: 'acme', model: 'gpt-acme' }] } }],
    [
      'aliases/team/fast',
      {
        ...{ type: 'alias.put', key: 'k1' },
        alias: { name: 'team/fast', targets: [{ provider: 'acme', model: 'gpt-acme', weight: 2 }] },
      },
    ],
    [
      'aliases',
      {
        ...{ type: 'alias.put', key: 'k1' },
        alias: { name: 'team/own', targets: [{ provider: 'acme', model: 'gpt-acme' }] },
      },
    ],
    [
      'groups/default/policy',
      { type: 'group.put', group: { id: 'default', models: ['gpt-*', 'team/*'], policy: { retries: 0 } } },
    ],
    ['settings', { type: 'settings.update', changes: { ledger: { retentionDays: 365 } } }],
    ['settings/ledger', { type: 'settings.update', changes: { ledger: { retentionDays: 365 } } }],
    ['providers/acme', { type: 'config.import', config: { version: 1, groups: [{ id: 'default' }] } }],
  ])('%s refuses %j', async (path, command) => {
    const gateway = await openLocked(path);
    const { revision } = await gateway.query({ type: 'config' });
    const refusal = await refusalOf(gateway.execute(command));
    expect(refusal).toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/set by Acme\. Ask it@acme\.example\.$/),
    });
    expect(refusal.kind.status).toBe(403);
    expect((await gateway.query({ type: 'config' })).revision).toBe(revision);
  });

  test.each([
    ['providers/acme', { type: 'provider.set-enabled', id: 'acme', enabled: false }],
    ['providers/acme', { type: 'provider.update', id: 'acme', changes: { timeouts: { connectMs: 100 } } }],
    ['providers', { type: 'credential.set', provider: 'acme', id: 'own', secret: 'sk-mine' }],
    ['providers', { type: 'provider.remove', id: 'own' }],
    [
      'groups/default/models',
      { type: 'group.put', group: { id: 'default', models: ['gpt-*', 'team/*'], deny: ['gpt-5'] } },
    ],
    ['groups', { type: 'key.create', group: 'default' }],
    ['settings', { type: 'settings.update', changes: { demo: 'off' } }],
    ['aliases', { type: 'alias.remove', name: 'mine' }],
  ])('%s leaves %j to the person', async (path, command) => {
    const gateway = await openLocked(path);
    if (command.type === 'provider.remove') await gateway.execute({ type: 'alias.remove', name: 'mine' });
    await expect(gateway.execute(command)).resolves.toBeDefined();
  });

  test('holds for a key that had an alias of its own in its place', async () => {
    const targets = [{ provider: 'own', model: 'mine' }];
    const aliases = [
      { name: 'team/fast', targets },
      { name: 'other', targets },
    ];
    const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey), aliases }];
    const { gateway } = await open({ providers: [ownProvider], keys });
    await gateway.execute({ type: 'team-preset.apply', preset: locking('aliases/team/fast') });
    const [key] = await gateway.query({ type: 'keys' });
    expect(key?.aliases.map(({ name }) => name)).toEqual(['other']);
  });

  test('cannot be removed either', async () => {
    const { gateway } = await open({ keys: [] });
    await gateway.execute({ type: 'team-preset.apply', preset: locking('groups/default/models') });
    const removal = gateway.execute({ type: 'group.remove', id: 'default' });
    expect(await refusalOf(removal)).toMatchObject({ code: 'locked', param: 'groups/default' });
  });

  test('is shown with who has set it', async () => {
    const gateway = await openLocked('groups/default/models', 'providers');
    const { team } = await gateway.query({ type: 'status' });
    expect(team.presets).toMatchObject([{ source: 'imported', name: 'Acme engineering', organisation: 'Acme' }]);
    const lock = { by: 'Acme', contact: 'it@acme.example' };
    expect(team.locks.map(({ path }) => path).sort()).toEqual(
      [
        ...['groups/default', 'groups/default/models', 'providers', 'providers/acme', 'providers/acme/baseUrl'],
        ...['providers/acme/models', 'providers/acme/name', 'providers/own/*'],
      ].sort(),
    );
    expect(team.locks[0]).toMatchObject(lock);
  });

  test('switches providers of somebody else off where the list is locked, and keeps their credentials', async () => {
    const gateway = await openLocked('providers');
    expect((await gateway.query({ type: 'providers' })).map(({ id, enabled }) => [id, enabled])).toEqual([
      ['own', false],
      ['acme', true],
    ]);
  });

  test('can be changed again once the person has left the preset, and what it brought stays', async () => {
    const gateway = await openLocked('groups');
    const events = gatherEvents(gateway);
    await events.next('snapshot');
    await gateway.execute({ type: 'team-preset.leave' });
    await events.next('config-changed', ({ status }) => status.team.locks.length === 0);
    events.stop();
    await gateway.execute({ type: 'group.put', group: { id: 'default', models: ['*'] } });
    expect((await gateway.query({ type: 'providers' })).map(({ id }) => id)).toContain('acme');
  });

  test('may be locked otherwise by the next version of the same preset', async () => {
    const gateway = await openLocked('groups/default/models');
    const groups = [{ id: 'default', models: ['next-*'] }];
    await gateway.execute({
      type: 'team-preset.apply',
      preset: { ...acmePreset, groups, locked: ['groups/default/models'] },
    });
    expect((await gateway.query({ type: 'groups' }))[0]?.models).toEqual(['next-*']);
  });
});
