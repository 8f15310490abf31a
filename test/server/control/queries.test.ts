import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../server/contract/errors.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { well } from '../../support/stand-ins.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, refusalOf, startControlGateway } from './control-gateway.ts';

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

let upstream: ScriptedUpstream;
let sluice: ControlGateway;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { id: 'x', choices: [], usage }));
  const { baseUrl } = upstream;
  sluice = await startControlGateway({
    config: {
      providers: [
        { id: 'main', baseUrl, credentials: [{ id: 'c1', label: 'Mine' }], models: ['gpt-x', 'gpt-y'] },
        { id: 'any', baseUrl, models: ['*'] },
        { id: 'off', baseUrl, models: ['gpt-x', 'lone'], enabled: false },
        { id: 'bare', baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x'] },
        { id: 'outside', baseUrl, models: ['gpt-x'] },
      ],
      aliases: [
        {
          name: 'fast',
          targets: [
            { provider: 'any', model: 'small', priority: 1 },
            { provider: 'main', model: 'gpt-y', priority: 0, weight: 2 },
            { provider: 'off', model: 'lone', priority: 2 },
          ],
        },
      ],
      groups: [
        { id: 'default', providers: ['main', 'any', 'off', 'bare'], deny: ['secret-*'], capture: true },
        { id: 'narrow', models: ['gpt-*'], providers: ['main'] },
      ],
      keys: [
        { id: 'k1', name: 'Laptop', group: 'default', hash: hashOf(testKey), createdAt: '2026-01-02T03:04:05Z' },
        { id: 'listed', group: 'default', hash: hashOf('b'), models: ['gpt-y'] },
        { id: 'old', group: 'default', hash: hashOf('c'), expiresAt: '2020-01-01T00:00:00Z' },
        { id: 'off', group: 'narrow', hash: hashOf('d'), enabled: false },
      ],
    },
    secrets: { 'provider/main/c1': 'sk-planted-4711' },
  });
  await sluice.client.chat.completions.create({ model: 'fast', messages: [{ role: 'user', content: 'hello' }] });
});
afterAll(async () => {
  await sluice.stop();
  await upstream.stop();
});

describe('what is configured', () => {
  test.each([
    ['any', {}, ['k1', 'listed', 'old', 'off'], 4],
    ['a part of the name', { search: ' lap' }, ['k1'], 1],
    ['a part of the id', { search: 'LD' }, ['old'], 1],
    ['a group', { group: 'narrow' }, ['off'], 1],
    ['ids, of which one is gone', { ids: ['old', 'gone', 'k1'] }, ['k1', 'old'], 2],
    ['no more than asked for', { limit: 2 }, ['k1', 'listed'], 4],
    ['nothing', { search: 'nowhere' }, [], 0],
    ['words of the name and the id, in any order', { search: 'top K' }, ['k1'], 1],
    ['those that are on', { enabled: true, group: 'narrow' }, [], 0],
    ['what needs attention', { needsAttention: true }, ['old'], 1],
  ])('finds keys by %s', async (_what, asked, ids, total) => {
    const found = await sluice.gateway.query({ type: 'find-keys', ...asked });
    expect(found.found.map(({ id }) => id)).toEqual(ids);
    expect(found.total).toBe(total);
  });

  test.each([
    ['any', {}, ['default', 'narrow'], 2],
    ['a part of the id', { search: 'ARR' }, ['narrow'], 1],
    ['no more than asked for', { limit: 1 }, ['default'], 2],
    ['what needs attention', { needsAttention: true }, [], 0],
  ])('finds groups by %s', async (_what, asked, ids, total) => {
    const found = await sluice.gateway.query({ type: 'find-groups', ...asked });
    expect(found.found.map(({ id }) => id)).toEqual(ids);
    expect(found.total).toBe(total);
  });

  test('the status says where it listens and how it does', async () => {
    expect(await sluice.gateway.query({ type: 'status' })).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      instanceId: sluice.gateway.instanceId,
      pid: process.pid,
      baseUrl: sluice.baseUrl,
      givenAddress: ['host', 'port'],
      revision: 1,
      readOnly: false,
      demoIsRunning: false,
      configReplaced: null,
      removedFields: [],
      ledger: { ok: true, dropped: 0, lastError: null },
      secretStore: expect.stringContaining('memory'),
      secretStoreKind: 'memory',
      settings: { port: 4810 },
    });
  });

  test('providers show whether they can be used and whether their secrets are there', async () => {
    const providers = await sluice.gateway.query({ type: 'providers' });
    expect(providers.map(({ id, unusable, takesAnyModel }) => [id, unusable, takesAnyModel])).toEqual([
      ['main', null, false],
      ['any', null, true],
      ['off', 'it is switched off', false],
      ['bare', expect.stringContaining('credential'), false],
      ['outside', null, false],
    ]);
    expect(providers[0]?.credentials).toEqual([
      { id: 'c1', label: 'Mine', reference: 'keychain', enabled: true, hasSecret: true, health: well },
    ]);
    expect(providers[3]?.credentials[0]?.hasSecret).toBe(false);
  });

  test('keys show when they were last used, and no hash', async () => {
    const keys = await sluice.gateway.query({ type: 'keys' });
    expect(keys[0]).toEqual({
      id: 'k1',
      name: 'Laptop',
      group: 'default',
      enabled: true,
      expiresAt: null,
      models: null,
      createdAt: '2026-01-02T03:04:05Z',
      lastUsedAt: expect.any(Number),
      limits: null,
      limitUse: [],
      capture: false,
      faults: false,
      cassette: null,
      canReveal: false,
      suffix: null,
      previousUntil: null,
      aliases: [],
      owner: null,
    });
    expect(keys.slice(1).map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, null, null]);
  });

  test('groups say how many keys they have', async () => {
    const groups = await sluice.gateway.query({ type: 'groups' });
    expect(groups.map(({ id, keyCount }) => [id, keyCount])).toEqual([
      ['default', 3],
      ['narrow', 1],
    ]);
    expect(await sluice.gateway.query({ type: 'aliases' })).toMatchObject([{ name: 'fast' }]);
  });

  test('the export can be imported and holds references only', async () => {
    const { revision, config } = await sluice.gateway.query({ type: 'config' });
    expect(revision).toBe(1);
    expect(config.providers[0]?.credentials).toEqual([{ id: 'c1', label: 'Mine', secret: 'keychain', enabled: true }]);
    expect(JSON.stringify(config)).not.toContain('planted');
  });
});

describe('models', () => {
  const idsOf = async (asked: { key?: string; group?: string }) =>
    (await sluice.gateway.query({ type: 'models', ...asked })).map(({ id, providers }) => [id, providers]);

  test('are those that a key of the group would list, with the providers in order', async () => {
    const expected = [
      ['fast', ['main', 'any']],
      ['gpt-x', ['main', 'any']],
      ['gpt-y', ['main', 'any']],
    ];
    expect(await idsOf({ group: 'default' })).toEqual(expected);
    expect(await idsOf({ key: 'k1' })).toEqual(expected);
    const listed = (await sluice.client.models.list()).data.map(({ id }) => id);
    expect(listed).toEqual(expected.map(([id]) => id));
  });

  test('are narrowed by the list of a key', async () => {
    expect(await idsOf({ key: 'listed' })).toEqual([['gpt-y', ['main', 'any']]]);
  });
});

describe('a route', () => {
  const explain = (model: string, asked: { key?: string; group?: string } = { group: 'default' }) =>
    sluice.gateway.query({ type: 'route', model, ...asked });
  const reasonsOf = async (model: string, asked?: { key?: string; group?: string }) =>
    (await explain(model, asked)).candidates.map(({ provider, isTaken, model: upstreamModel, reason }) =>
      isTaken ? `${provider} as ${upstreamModel}: ${reason}` : `not ${provider}: ${reason}`,
    );

  test('of a plain model names who serves it first, then who takes any name, then why nobody else', async () => {
    expect(await reasonsOf('gpt-x')).toEqual([
      'main as gpt-x: it serves this model',
      'any as gpt-x: it takes any model name',
      'not off: it is switched off',
      'not bare: no enabled credential has a value',
      'not outside: group "default" may not use it',
    ]);
    expect((await reasonsOf('gpt-y')).slice(2, 4)).toEqual(['not off: it is switched off', expect.any(String)]);
  });

  test('of an alias follows its priorities', async () => {
    expect(await reasonsOf('fast')).toEqual([
      'main as gpt-y: the alias "fast" leads to it',
      'any as small: the alias "fast" leads to it',
      'not off: it is switched off',
      'not bare: the alias "fast" does not lead to it',
      'not outside: group "default" may not use it',
    ]);
    expect((await explain('fast')).candidates[0]).toMatchObject({ priority: 0, weight: 2, name: 'main' });
  });

  test('of an addressed provider leaves the others out', async () => {
    expect((await reasonsOf('main/gpt-x')).slice(0, 2)).toEqual([
      'main as gpt-x: the model name addresses it',
      'not any: the model name addresses provider "main"',
    ]);
  });

  test('of what the group or the key refuses says so, with the answer a client would get', async () => {
    const denied = await explain('secret-x');
    expect(denied.refusal).toMatchObject({ code: 'model_not_found' });
    expect(denied.candidates[0]?.reason).toBe('group "default" does not allow this model name');
    expect((await reasonsOf('gpt-x', { key: 'listed' }))[0]).toBe(
      'not main: the list of key "listed" does not allow this model name',
    );
    expect(await reasonsOf('gpt-z', { group: 'narrow' })).toContain('not main: it is not known to serve this model');
  });

  test('of a key that is refused says that first', async () => {
    expect((await explain('gpt-x', { key: 'old' })).refusal).toMatchObject({ code: 'key_expired' });
    expect((await explain('gpt-x', { key: 'off' })).refusal).toMatchObject({ code: 'key_disabled' });
    expect(await explain('gpt-x', { key: 'k1' })).toMatchObject({ refusal: null, key: 'k1', group: 'default' });
  });
});

describe('the preview of a group', () => {
  test('is what the group would mean if it were saved', async () => {
    const narrow = { models: ['gpt-*'], providers: ['main'] };
    const { models } = await sluice.gateway.query({ type: 'group-preview', group: narrow });
    expect(models).toEqual(await sluice.gateway.query({ type: 'models', group: 'narrow' }));
    expect(models.map(({ id }) => id)).toEqual(['gpt-x', 'gpt-y']);
  });

  test('has its providers in their order, also those that cannot be used now', async () => {
    const order = [{ provider: 'off', priority: 0 }];
    const { providers } = await sluice.gateway.query({ type: 'group-preview', group: { order } });
    expect(providers).toEqual(['off', 'main', 'any', 'bare', 'outside']);
  });

  test('tells the defaults that would be refused, and why', async () => {
    const defaults = { chat: 'gpt-x', embeddings: 'llama-1', responses: 'lone' };
    const group = { models: ['gpt-*', 'lone'], providers: ['main', 'off'], defaults };
    const { refusedDefaults, passthrough } = await sluice.gateway.query({ type: 'group-preview', group });
    expect(passthrough).toBeNull();
    expect(refusedDefaults).toEqual([
      { capability: 'responses', model: 'lone', code: 'no_healthy_provider' },
      { capability: 'embeddings', model: 'llama-1', code: 'model_not_found' },
    ]);
  });

  test('changes nothing', async () => {
    const before = await sluice.gateway.query({ type: 'groups' });
    await sluice.gateway.query({ type: 'group-preview', group: { id: 'narrow', deny: ['*'] } });
    expect(await sluice.gateway.query({ type: 'groups' })).toEqual(before);
  });
});

describe('the ledger', () => {
  test('gives requests by filter and page', async () => {
    const { requests, next } = await sluice.gateway.query({ type: 'requests', filter: { keyId: 'k1', model: 'fast' } });
    expect(requests).toMatchObject([{ modelAsked: 'fast', modelServed: 'gpt-y', provider: 'main', outcome: 'ok' }]);
    expect(next).toBeNull();
    expect(await sluice.gateway.query({ type: 'requests', filter: { keyId: 'listed' } })).toMatchObject({
      requests: [],
    });
  });

  test('gives one request with its kept bodies', async () => {
    const page = await sluice.gateway.query({ type: 'requests', filter: { model: 'fast' } });
    const found = await sluice.gateway.query({ type: 'request', id: page.requests[0]?.id ?? '' });
    expect(found.request.usage).toEqual({ inputTokens: 7, outputTokens: 3 });
    expect(found.capture?.request.body?.encoding).toBe('utf8');
    expect(found.capture?.request.body?.data).toContain('hello');
    expect(JSON.parse(found.capture?.response.body?.data ?? '')).toMatchObject({ usage });
  });

  test('tells what happened when', async () => {
    const now = Date.now();
    const time = { sinceMs: now - 3_600_000, untilMs: now + 60_000, stepMs: 60_000 };
    const steps = await sluice.gateway.query({ type: 'usage-over-time', by: 'provider', names: ['main'], ...time });
    expect(steps).toMatchObject([{ name: 'main', failed: 0 }]);
    const times = await sluice.gateway.query({ type: 'first-byte-times', ...time });
    expect(times.medianMs).toBeGreaterThan(0);
  });

  test('sums usage', async () => {
    const sums = await sluice.gateway.query({ type: 'usage', by: 'provider' });
    expect(sums.find(({ name }) => name === 'main')).toMatchObject({ requests: 1, inputTokens: 7, outputTokens: 3 });
  });
});

test('the presets and the local servers can be listed', async () => {
  expect(Array.isArray(await sluice.gateway.query({ type: 'presets' }))).toBe(true);
  expect(Array.isArray(await sluice.gateway.query({ type: 'local-servers' }))).toBe(true);
});

describe('a query is refused:', () => {
  const cases: [string, ErrorCode, string, unknown][] = [
    ['an unknown one', 'invalid_command', 'type', { type: 'secrets' }],
    ['no object', 'invalid_command', 'query', null],
    ['models of nobody', 'invalid_command', 'key or a group', { type: 'models' }],
    ['models of a key in another group', 'conflict', '"default"', { type: 'models', key: 'k1', group: 'narrow' }],
    ['models of an unknown key', 'not_found', '"nope"', { type: 'models', key: 'nope' }],
    ['a route of an unknown group', 'not_found', '"nope"', { type: 'route', group: 'nope', model: 'm' }],
    ['an unknown request', 'not_found', 'req_x', { type: 'request', id: 'req_x' }],
    ['the test of an unknown provider', 'not_found', '"nope"', { type: 'provider-test', id: 'nope' }],
    ['too many requests', 'invalid_command', 'limit', { type: 'requests', limit: 5000 }],
    [
      'a series of a million steps',
      'invalid_command',
      'stepMs',
      { type: 'first-byte-times', sinceMs: 0, untilMs: 6e10, stepMs: 60_000 },
    ],
    ['usage by weather', 'invalid_command', 'by', { type: 'usage', by: 'weather' }],
  ];
  test.each(cases)('%s', async (_name, code, text, query) => {
    const error = await refusalOf(sluice.gateway.query(query));
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
  });
});
