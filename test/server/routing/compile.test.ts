import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Config, configSchema, keySchema, providerSchema } from '../../../server/contract/config.ts';
import { isOwnAddress } from '../../../server/routing/compile.ts';
import type { Snapshot } from '../../../server/routing/snapshot.ts';
import { compiledFrom, compiledProvider, snapshotOf } from '../../support/providers.ts';

const baseUrl = 'https://api.example/v1';

describe('a compiled provider', () => {
  test('has its address in parts, without slashes at the end', () => {
    expect(compiledProvider({ baseUrl: 'https://api.example:8443/a/v1//' }).endpoint).toEqual({
      origin: 'https://api.example:8443',
      basePath: '/a/v1',
      apiVersion: undefined,
    });
    expect(compiledProvider({ baseUrl: 'https://api.example' }).endpoint.basePath).toBe('');
  });

  test('has all limits, those not configured by default', () => {
    expect(compiledProvider({ baseUrl, timeouts: { idleMs: 7 } }).timeouts).toEqual({
      connectMs: 5_000,
      firstByteMs: 600_000,
      firstContentMs: 600_000,
      idleMs: 7,
    });
  });

  test('has its headers by lower-case name', () => {
    expect(compiledProvider({ baseUrl, headers: { 'X-Org': 'a' } }).headers).toEqual({ 'x-org': 'a' });
  });

  test('has the credentials that are enabled and have a secret, in the form of its dialect', () => {
    const credentials = [{ id: 'off', enabled: false }, { id: 'none' }, { id: 'empty' }, { id: 'good' }];
    const secrets = { 'provider/p/off': 'x', 'provider/p/empty': '', 'provider/p/good': 's' };
    for (const [dialect, headers] of [
      ['openai', { authorization: 'Bearer s' }],
      ['azure', { 'api-key': 's' }],
    ] as const) {
      const { providers } = snapshotOf({ providers: [{ id: 'p', baseUrl, dialect, credentials }] }, { secrets });
      expect(providers.get('p')).toMatchObject({ credentials: [{ id: 'good', headers }], unusable: null });
    }
  });

  test.each<[string, Parameters<typeof compiledProvider>[0], RegExp | null]>([
    ['nothing is wrong', { baseUrl }, null],
    ['it is off', { baseUrl, enabled: false }, /switched off/],
    ['it is Sluice itself', { baseUrl: 'http://localhost:4810/v1' }, /leads back to Sluice/],
    [
      'its only credential has no secret',
      { baseUrl, credentials: [{ id: 'c9' }] },
      /no enabled credential has a value/,
    ],
  ])('says whether it can be used: %s', (_what, provider, reason) => {
    const { providers } = snapshotOf(
      { providers: [{ id: 'p', ...provider }] },
      { ownAddresses: new Set(['127.0.0.1:4810']) },
    );
    const { unusable } = providers.get('p') ?? { unusable: 'missing' };
    if (reason) expect(unusable).toMatch(reason);
    else expect(unusable).toBeNull();
  });

  test.each<[string, 'discover' | string[], string[] | null, string[], boolean, boolean]>([
    ['a list is what it has', ['a', 'b'], null, ['a', 'b'], false, false],
    ['`*` takes any name besides', ['a', '*'], null, ['a'], true, false],
    ['an empty list has none', [], null, [], false, false],
    ['not yet discovered takes any name', 'discover', null, [], true, true],
    ['discovered is what was found', 'discover', ['x'], ['x'], false, true],
    ['whose models could not be learnt has none', 'discover', [], [], false, true],
    ['a list does not mind what was found', ['a'], ['x'], ['a'], false, false],
  ])('knows its models: %s', (_what, models, found, names, anyModel, discoversModels) => {
    const info = { created: 1, ownedBy: 'o' };
    const discovered = new Map(found ? [['p', new Map(found.map((name) => [name, info]))]] : []);
    const provider = snapshotOf({ providers: [{ id: 'p', baseUrl, models }] }, { discovered }).providers.get('p');
    expect([...(provider?.models.keys() ?? [])]).toEqual(names);
    expect(provider).toMatchObject({ anyModel, discoversModels });
  });

  test('that is the demo is there beside the configured ones', () => {
    const demo = providerSchema.parse({ id: 'demo', baseUrl: 'http://127.0.0.1:9/v1', models: ['demo-chat'] });
    const snapshot = snapshotOf({ providers: [{ id: 'p', baseUrl }] }, { demo });
    expect([...snapshot.providers.keys()]).toEqual(['p', 'demo']);
  });
});

describe('a compiled key', () => {
  const groups = [{ id: 'g' }];
  const hashOf = (secret: string) => hash('sha256', secret, 'hex');
  const keyOf = (snapshot: Snapshot, secret: string) =>
    snapshot.keys.get(hash('sha256', secret, 'buffer').toString('latin1'));

  test('is found by the hash of its secret, stored or resolved', () => {
    const keys = [
      { id: 'stored', group: 'g', hash: `sha256:${hashOf('any text, ü')}` },
      { id: 'declared', group: 'g', secret: 'env:KEY' },
    ];
    const snapshot = snapshotOf({ groups, keys }, { secrets: { 'key/declared': 'with spaces' } });
    expect(keyOf(snapshot, 'any text, ü')?.id).toBe('stored');
    expect(keyOf(snapshot, 'with spaces')?.id).toBe('declared');
    expect(keyOf(snapshot, 'another')).toBeUndefined();
  });

  test('keeps its secret for itself: a later one with the same is not used, and said so', () => {
    const keys = [
      { id: 'first', group: 'g', hash: `sha256:${hashOf('s')}` },
      { id: 'second', group: 'g', secret: 'env:KEY' },
      { id: 'third', group: 'g', hash: `sha256:${hashOf('other')}` },
    ];
    const snapshot = snapshotOf({ groups, keys }, { secrets: { 'key/second': 's' } });
    expect([...snapshot.keys.values()].map(({ id }) => id)).toEqual(['first', 'third']);
    expect(snapshot.notices).toEqual([
      'Key "second" has the same secret as key "first" and is not used: give it one of its own.',
    ]);
  });

  test('stays the same object while nothing about it changes', () => {
    const keys = ['a', 'b'].map((id) => ({ id, group: 'g', hash: `sha256:${hashOf(id)}` }));
    const config = configSchema.parse({ version: 1, groups: [...groups, { id: 'other' }], keys });
    const compiled = (changes: Partial<Config>) => keyOf(compiledFrom({ ...config, ...changes }), 'a');
    const before = compiled({});
    const third = keySchema.parse({ id: 'c', group: 'other', hash: `sha256:${hashOf('c')}` });
    expect(compiled({ keys: [...config.keys, third] })).toBe(before);
    // Then it is the only key of its group.
    expect([before, compiled({ keys: config.keys.slice(0, 1) })]).toMatchObject([
      { sharesGroup: true },
      { sharesGroup: false },
    ]);
    const cassette = { folder: '/tapes', mode: 'record' as const };
    expect(compiled({ groups: config.groups.map((group) => ({ ...group, cassette })) })?.cassette).toBe(cassette);
  });

  test('whose secret is missing or empty opens nothing', () => {
    const keys = ['a', 'b'].map((id) => ({ id, group: 'g', secret: 'env:KEY' }));
    expect(snapshotOf({ groups, keys }, { secrets: { 'key/a': '' } }).keys.size).toBe(0);
  });

  test('has its expiry as a moment', () => {
    const keys = [{ id: 'k', group: 'g', hash: `sha256:${hashOf('s')}`, expiresAt: '2026-01-01T02:00:00+02:00' }];
    expect(keyOf(snapshotOf({ groups, keys }), 's')?.expiresAtMs).toBe(Date.UTC(2026, 0, 1));
  });
});

describe('isOwnAddress', () => {
  const own = new Set(['127.0.0.1:4810', '192.168.1.5:4810']);

  test.each([
    'http://127.0.0.1:4810/v1',
    'http://127.0.0.1:4810',
    'https://127.0.0.1:4810/other',
    'http://127.1.2.3:4810/v1',
    'http://127.1:4810/v1',
    'http://2130706433:4810/v1',
    'http://localhost:4810/v1',
    'http://LOCALHOST:4810/v1',
    'http://localhost.:4810/v1',
    'http://api.localhost:4810/v1',
    'http://[::1]:4810/v1',
    'http://[0:0:0:0:0:0:0:1]:4810/v1',
    'http://[::ffff:127.0.0.1]:4810/v1',
    'http://0.0.0.0:4810/v1',
    'http://0:4810/v1',
    'http://[::]:4810/v1',
    'http://192.168.1.5:4810/v1',
  ])('sees %s', (url) => {
    expect(isOwnAddress(new URL(url), own)).toBe(true);
  });

  test.each([
    'http://127.0.0.1:4811/v1',
    'http://localhost/v1',
    'http://localhost.example:4810/v1',
    'http://notlocalhost:4810/v1',
    'http://192.168.1.6:4810/v1',
    'http://[::2]:4810/v1',
    'http://[::ffff:10.0.0.1]:4810/v1',
    'https://api.example/v1',
  ])('does not see %s', (url) => {
    expect(isOwnAddress(new URL(url), own)).toBe(false);
  });

  test('knows the usual ports', () => {
    expect(isOwnAddress(new URL('http://localhost/v1'), new Set(['127.0.0.1:80']))).toBe(true);
    expect(isOwnAddress(new URL('https://localhost/v1'), new Set(['127.0.0.1:443']))).toBe(true);
  });
});
