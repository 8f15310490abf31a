import { describe, expect, test } from 'vitest';
import { keyChecksumHolds } from '../../../server/routing/key-secret.ts';
import { hashOf } from '../../support/gateway.ts';
import { baseUrl, commandGatewayInSuite } from './command-gateway.ts';
import { refusalOf } from './control-gateway.ts';

const { current, run, stored } = commandGatewayInSuite();

const item = async (part: string, id: string) =>
  (await stored())[part].find((each: { id?: string; name?: string }) => (each.id ?? each.name) === id);

describe('providers', () => {
  test('are added with an id made from the name, their secrets stored apart', async () => {
    const { revision, provider } = await current().gateway.execute({
      type: 'provider.add',
      provider: { name: 'Büro & Co', baseUrl, models: ['m'] },
      credentials: [
        { secret: 'sk-one' },
        { label: 'Second account', secret: ' sk-two\n' },
        { reference: 'env:NO_SUCH' },
      ],
    });
    expect(revision).toBe(2);
    expect(provider).toMatchObject({ id: 'buro-co', name: 'Büro & Co', unusable: null, modelNames: ['m'] });
    expect(provider.credentials.map(({ id, reference, hasSecret }) => [id, reference, hasSecret])).toEqual([
      ['c1', 'keychain', true],
      ['second-account', 'keychain', true],
      ['c2', 'env:NO_SUCH', false],
    ]);
    expect(await current().secrets.get('provider/buro-co/c1')).toBe('sk-one');
    expect(await current().secrets.get('provider/buro-co/second-account')).toBe('sk-two');
    expect(await current().configText()).not.toContain('sk-');
  });

  test.each<[string, { preset?: string; name?: string; baseUrl?: string }, string[]]>([
    ['address', {}, ['localhost-8080', 'localhost-8080-2']],
    ['service', { preset: 'ollama' }, ['ollama', 'ollama-localhost-8080', 'ollama-2']],
    ['service elsewhere', { preset: 'ollama', baseUrl: 'http://nas.local:11434/v1' }, ['ollama', 'ollama-nas']],
    ['service that is called so', { preset: 'openai', baseUrl: 'https://api.openai.com/v1' }, ['openai', 'openai-2']],
    ['name', { preset: 'ollama', name: 'Mine' }, ['mine', 'mine-ollama', 'mine-localhost-8080', 'mine-2']],
  ])(
    'get an id that a person would choose from their %s, and a number only where nothing else tells them apart',
    async (_, fields, ids) => {
      const provider = { baseUrl: 'http://127.0.0.1:8080/v1', models: [], ...fields };
      const given: string[] = [];
      for (const _id of ids)
        given.push((await current().gateway.execute({ type: 'provider.add', provider })).provider.id);
      expect(given).toEqual(ids);
    },
  );

  test('keep on an update what it does not name, and lose what it sets to null', async () => {
    await run({
      type: 'provider.update',
      id: 'main',
      changes: { name: 'Main', apiVersion: '2024', headers: { a: 'b' } },
    });
    const { provider } = await current().gateway.execute({
      type: 'provider.update',
      id: 'main',
      changes: { name: null, timeouts: { connectMs: 7 } },
    });
    expect(provider).toMatchObject({
      name: 'main',
      apiVersion: '2024',
      headers: { a: 'b' },
      timeouts: { connectMs: 7 },
    });
    expect(provider).toMatchObject({ models: ['gpt-x'], credentials: [{ id: 'c1', hasSecret: true }], enabled: true });
    expect(await item('providers', 'main')).not.toHaveProperty('name');
  });

  test('are switched off and on', async () => {
    expect(await run({ type: 'provider.set-enabled', id: 'main', enabled: false })).toMatchObject({
      provider: { enabled: false, unusable: 'it is switched off' },
    });
    expect(await run({ type: 'provider.set-enabled', id: 'main', enabled: true })).toMatchObject({
      provider: { enabled: true, unusable: null },
    });
  });

  test('go with their secrets and their places in groups', async () => {
    expect(await run({ type: 'provider.remove', id: 'main' })).toEqual({ revision: 2 });
    expect(await item('providers', 'main')).toBeUndefined();
    expect(await item('groups', 'team')).toMatchObject({ order: [] });
    expect(await current().secrets.list()).toEqual([]);
  });
});

describe('credentials', () => {
  test('are added, get a new secret, and move to the environment', async () => {
    expect(await run({ type: 'credential.set', provider: 'main', secret: 'sk-two' })).toMatchObject({
      credential: { id: 'c2', label: null, reference: 'keychain', hasSecret: true },
    });
    await run({ type: 'credential.set', provider: 'main', id: 'c2', secret: 'sk-three', label: 'Mine' });
    expect(await current().secrets.get('provider/main/c2')).toBe('sk-three');
    expect(await run({ type: 'credential.set', provider: 'main', id: 'c2', enabled: false })).toMatchObject({
      credential: { label: 'Mine', enabled: false, reference: 'keychain' },
    });
    const moved = await run({ type: 'credential.set', provider: 'main', id: 'c2', reference: 'env:X', label: null });
    expect(moved).toMatchObject({ credential: { label: null, reference: 'env:X', enabled: false } });
    expect(await current().secrets.list()).toEqual(['provider/main/c1']);
  });

  test('go with their secret', async () => {
    expect(await run({ type: 'credential.remove', provider: 'main', id: 'c1' })).toEqual({ revision: 2 });
    expect(await item('providers', 'main')).toMatchObject({ credentials: [] });
    expect(await current().secrets.list()).toEqual([]);
  });
});

describe('keys', () => {
  test('are stored as a hash, and their secret apart', async () => {
    const { key, secret: made } = await current().gateway.execute({ type: 'key.create', name: 'My laptop' });
    expect(keyChecksumHolds(made)).toBe(true);
    expect(key).toMatchObject({ id: 'my-laptop', group: 'default', enabled: true, canReveal: true, lastUsedAt: null });
    expect(await item('keys', 'my-laptop')).toMatchObject({ hash: hashOf(made), secret: 'keychain' });
    expect(await current().secrets.get('key/my-laptop')).toBe(made);
    expect(await run({ type: 'key.reveal', id: 'my-laptop' })).toEqual({ secret: made });
    expect((await current().fetch('/models', { headers: { authorization: `Bearer ${made}` } })).status).toBe(200);
  });

  test('that are not kept are shown once', async () => {
    const { key } = await current().gateway.execute({ type: 'key.create', keepSecret: false });
    expect(key).toMatchObject({ id: 'key-1', canReveal: false });
    expect(await item('keys', 'key-1')).not.toHaveProperty('secret');
    expect(await current().secrets.list()).toEqual(['provider/main/c1']);
    expect(await refusalOf(run({ type: 'key.reveal', id: 'key-1' }))).toMatchObject({ code: 'not_found' });
  });

  test('change what is named, and lose what is set to null', async () => {
    const expiresAt = '2020-01-01T00:00:00Z';
    await run({ type: 'key.update', id: 'k1', changes: { name: 'First', models: ['gpt-*'], expiresAt } });
    expect((await current().fetch('/models')).status).toBe(401);
    const { key } = await current().gateway.execute({
      type: 'key.update',
      id: 'k1',
      changes: { group: 'team', expiresAt: null, models: null },
    });
    expect(key).toMatchObject({ name: 'First', group: 'team', expiresAt: null, models: null });
    expect((await current().fetch('/models')).status).toBe(200);
  });

  test('get a new secret that ends the old one', async () => {
    const first = await current().gateway.execute({ type: 'key.create', name: 'a' });
    const second = await current().gateway.execute({ type: 'key.rotate', id: 'a' });
    const statusOf = async (given: string) =>
      (await current().fetch('/models', { headers: { authorization: `Bearer ${given}` } })).status;
    expect([await statusOf(first.secret), await statusOf(second.secret)]).toEqual([401, 200]);
    expect(await run({ type: 'key.reveal', id: 'a' })).toEqual({ secret: second.secret });
    const third = await current().gateway.execute({ type: 'key.rotate', id: 'a', keepSecret: false });
    expect(third.key.canReveal).toBe(false);
    expect(await current().secrets.get('key/a')).toBeUndefined();
  });

  test('can be recognised by the last four characters of their secret, and by no more', async () => {
    const made = await current().gateway.execute({ type: 'key.create', name: 'a' });
    expect(made.key.suffix).toBe(made.secret.slice(-4));
    const rotated = await current().gateway.execute({ type: 'key.rotate', id: 'a' });
    expect(rotated.key.suffix).toBe(rotated.secret.slice(-4));
    expect(JSON.stringify(await current().gateway.query({ type: 'config' }))).not.toContain(rotated.secret.slice(-5));
    expect((await current().gateway.query({ type: 'keys' })).find(({ id }) => id === 'k1')?.suffix).toBe(null);
  });

  test('take the old secret too until the grace period of a rotation is over', async () => {
    const first = await current().gateway.execute({ type: 'key.create', name: 'a' });
    const second = await current().gateway.execute({ type: 'key.rotate', id: 'a', graceHours: 24 });
    const statusOf = async (given: string) =>
      (await current().fetch('/models', { headers: { authorization: `Bearer ${given}` } })).status;
    expect([await statusOf(first.secret), await statusOf(second.secret)]).toEqual([200, 200]);
    expect(Date.parse(second.key.previousUntil ?? '') - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(await run({ type: 'key.reveal', id: 'a' })).toEqual({ secret: second.secret });
    await run({ type: 'key.update', id: 'a', changes: { enabled: false } });
    expect(await statusOf(first.secret)).toBe(401);
    await run({ type: 'key.update', id: 'a', changes: { enabled: true } });
    const third = await current().gateway.execute({ type: 'key.rotate', id: 'a', graceHours: 1 });
    expect([await statusOf(first.secret), await statusOf(second.secret)]).toEqual([401, 200]);
    await current().gateway.execute({ type: 'key.rotate', id: 'a' });
    expect([await statusOf(second.secret), await statusOf(third.secret)]).toEqual([401, 401]);
    expect(await item('keys', 'a')).not.toHaveProperty('previous');
  });

  test('lose the old secret with the next change after its grace period', async () => {
    const hash = hashOf('sk-sluice-old');
    const { config } = await current().gateway.query({ type: 'config' });
    const keys = config.keys.map((key) => ({ ...key, previous: { hash, until: '2020-01-01T00:00:00Z' } }));
    await run({ type: 'config.import', config: { ...config, keys } });
    await run({ type: 'key.create', name: 'another' });
    expect(await item('keys', 'k1')).not.toHaveProperty('previous');
  });

  test('whose secret is a reference have no grace period', async () => {
    const { config } = await current().gateway.query({ type: 'config' });
    const keys = [...config.keys, { id: 'ref', group: 'default', secret: 'env:SOME_KEY' }];
    await run({ type: 'config.import', config: { ...config, keys } });
    const refused = await refusalOf(run({ type: 'key.rotate', id: 'ref', graceHours: 1 }));
    expect(refused).toMatchObject({ code: 'invalid_value', message: expect.stringContaining('"ref"') });
  });

  test('are not revealed with a secret that is not in force', async () => {
    await run({ type: 'key.create', name: 'a' });
    await current().secrets.set('key/a', 'left by a crash');
    expect(await refusalOf(run({ type: 'key.reveal', id: 'a' }))).toMatchObject({ code: 'not_found' });
  });

  test('that are revoked are gone with their secret', async () => {
    await run({ type: 'key.create', name: 'a' });
    expect(await run({ type: 'key.revoke', id: 'a' })).toEqual({ revision: 3 });
    expect(await item('keys', 'a')).toBeUndefined();
    expect(await current().secrets.get('key/a')).toBeUndefined();
    await run({ type: 'key.revoke', id: 'k1' });
    expect((await current().fetch('/models')).status).toBe(401);
  });
});

describe('groups, aliases and settings', () => {
  test('a group is added under an id made from its name, and replaced under its id', async () => {
    expect(await run({ type: 'group.put', group: { name: 'Night Shift', deny: ['gpt-*'] } })).toMatchObject({
      group: { id: 'night-shift', models: ['*'], deny: ['gpt-*'], keyCount: 0 },
    });
    expect(await run({ type: 'group.put', group: { id: 'default', models: ['m'] } })).toMatchObject({
      group: { id: 'default', models: ['m'], keyCount: 1 },
    });
    expect((await stored()).groups).toHaveLength(3);
  });

  test('a group without keys is removed', async () => {
    await run({ type: 'group.remove', id: 'team' });
    expect((await stored()).groups).toHaveLength(1);
  });

  test('an alias is added, replaced and removed', async () => {
    const main = { provider: 'main', model: 'gpt-x' };
    const spare = { provider: 'spare', model: 'gpt-x', priority: 1 };
    await run({ type: 'alias.put', alias: { name: 'slow', targets: [main] } });
    const replacement = { name: 'slow', targets: [{ ...main, priority: 0 }, spare] };
    const replaced = await current().gateway.execute({ type: 'alias.put', alias: replacement });
    expect(replaced.alias.targets.map(({ priority, weight }) => [priority, weight])).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect((await stored()).aliases.map((each: { name: string }) => each.name)).toEqual(['fast', 'slow']);
    await run({ type: 'alias.remove', name: 'slow' });
    expect((await stored()).aliases).toHaveLength(1);
  });

  test('an alias of one key stands beside that for all, and goes with the provider that it leads to', async () => {
    const spare = { provider: 'spare', model: 'gpt-x' };
    const main = { provider: 'main', model: 'gpt-x', priority: 1 };
    const namesOf = (aliases: { name: string }[]) => aliases.map(({ name }) => name);
    const own = async () => (await stored()).keys.find(({ id }: { id: string }) => id === 'k1').aliases;
    await run({ type: 'alias.put', key: 'k1', alias: { name: 'fast', targets: [spare, main] } });
    await run({ type: 'alias.put', key: 'k1', alias: { name: 'slow', targets: [spare] } });
    expect([namesOf((await stored()).aliases), namesOf(await own())]).toEqual([['fast'], ['fast', 'slow']]);
    const { gateway } = current();
    const exported = (await gateway.query({ type: 'config' })).config;
    expect((await gateway.query({ type: 'import-preview', config: exported })).changes).toEqual([]);
    await run({ type: 'alias.put', alias: { name: 'fast', targets: [main] } });
    await run({ type: 'provider.remove', id: 'spare' });
    expect(await own()).toMatchObject([{ name: 'fast', targets: [main] }]);
    await run({ type: 'alias.remove', key: 'k1', name: 'fast' });
    expect(await own()).toBeUndefined();
  });

  test('a setting changes alone, inside its part too', async () => {
    await run({ type: 'settings.update', changes: { limits: { jsonBodyBytes: 1000 }, keepAliveCommentMs: 5 } });
    await run({ type: 'settings.update', changes: { demo: 'on' } });
    const { settings } = await current().gateway.query({ type: 'status' });
    expect(settings).toMatchObject({
      demo: 'on',
      keepAliveCommentMs: 5,
      limits: { jsonBodyBytes: 1000, multipartBodyBytes: 512 * 1024 * 1024 },
    });
  });

  test('the demo provider is switched by its setting', async () => {
    const running = async () => (await current().gateway.query({ type: 'status' })).demoIsRunning;
    expect(await running()).toBe(false);
    await run({ type: 'settings.update', changes: { demo: 'on' } });
    expect(await running()).toBe(true);
    const providers = await current().gateway.query({ type: 'providers' });
    expect(providers.find((provider) => provider.isDemo)).toMatchObject({ id: 'demo', unusable: null });
    await run({ type: 'settings.update', changes: { demo: 'off' } });
    expect(await running()).toBe(false);
  });
});
