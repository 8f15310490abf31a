import { beforeEach, describe, expect, test } from 'vitest';
import { testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, gatherEvents, refusalOf, startControlGateway } from './control-gateway.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: ControlGateway;
let served: string[];
beforeEach(async () => {
  served = ['gpt-x'];
  upstream = await stopLater(
    startUpstream((_request, response) => json(response, { data: served.map((id) => ({ id })) })),
  );
  sluice = await stopLater(startControlGateway());
});

const add = () =>
  sluice.gateway.execute({
    type: 'provider.add',
    id: 'p',
    provider: { baseUrl: upstream.baseUrl },
    credentials: [{ secret: 'sk-upstream' }],
  });
const listed = async () => (await sluice.client.models.list()).data.map(({ id }) => id);

describe('a provider that is added', () => {
  test('is asked for its models by itself, which are then listed and told of', async () => {
    const events = gatherEvents(sluice.gateway);
    expect((await add()).provider).toMatchObject({ takesAnyModel: true, models: 'discover' });
    const { provider } = await events.next('provider-changed');
    expect(provider).toMatchObject({
      id: 'p',
      modelNames: ['gpt-x'],
      takesAnyModel: false,
      discovery: { refreshedAt: expect.any(Number), problem: null, finding: null },
    });
    expect(await listed()).toEqual(['gpt-x']);
    expect(upstream.seen[0]).toMatchObject({ url: '/v1/models', headers: { authorization: 'Bearer sk-upstream' } });
    events.stop();
  });

  test('is asked again on demand, and no request waits for that', async () => {
    await add();
    await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    const askedBefore = upstream.seen.length;
    served = ['gpt-x', 'gpt-y'];
    expect(await listed()).toEqual(['gpt-x']);
    expect(upstream.seen).toHaveLength(askedBefore);
    const refreshed = await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    expect(refreshed.provider.modelNames).toEqual(['gpt-x', 'gpt-y']);
    expect(await listed()).toEqual(['gpt-x', 'gpt-y']);
  });

  test('keeps its models when it fails, and says what is wrong', async () => {
    await add();
    await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    upstream.answer((_request, response) => json(response, {}, 500));
    const { provider } = await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    expect(provider.discovery?.problem).toContain('500');
    expect(provider.modelNames).toEqual(['gpt-x']);
  });

  test('is not called for made-up names if it does not list its models', async () => {
    upstream.answer((_request, response) => json(response, { error: { message: 'who are you?' } }, 401));
    await add();
    const { provider } = await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    expect(provider).toMatchObject({ modelNames: [], takesAnyModel: false });
    const work = sluice.client.chat.completions.create({ model: 'made-up', messages: [] });
    await expect(work).rejects.toMatchObject({ status: 503, code: 'models_unknown' });
    expect(upstream.seen.filter(({ url }) => url !== '/v1/models')).toEqual([]);
  });

  test('is named, with the nearest model that is known, to whom asks for one that nobody has listed', async () => {
    upstream.answer((_request, response) => json(response, {}, 500));
    await add();
    await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    const other = { baseUrl: upstream.baseUrl, models: ['gpt-5'] };
    await sluice.gateway.execute({ type: 'provider.add', id: 'other', provider: other });
    const model = 'gpt-5-typo';
    const said = /: provider "p" has not listed its models so far\. Did you mean "gpt-5"\? .*"p\/MODEL" works/;
    for (const [path, body] of [
      ['/v1/chat/completions', { model, messages: [] }],
      ['/v1/responses', { model, input: 'hi' }],
      ['/v1/messages', { model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
      [`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: 'hi' }] }] }],
    ] as const) {
      const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
      const response = await fetch(sluice.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([path, response.status]).toEqual([path, 503]);
      expect((await response.json()).error.message).toMatch(said);
    }
    const { refusal } = await sluice.gateway.query({ type: 'route', group: 'default', model });
    expect(refusal).toEqual({
      ...{ code: 'models_unknown', nearest: 'gpt-5', unlisted: ['p'] },
      message: expect.stringMatching(said),
    });
  });

  test('is queried again when its address changes, and forgotten when it is removed', async () => {
    await add();
    await sluice.gateway.execute({ type: 'provider.refresh-models', id: 'p' });
    const other = await startUpstream((_request, response) => json(response, { data: [{ id: 'other' }] }));
    const events = gatherEvents(sluice.gateway);
    await sluice.gateway.execute({ type: 'provider.update', id: 'p', changes: { baseUrl: other.baseUrl } });
    await events.next('provider-changed', ({ provider }) => provider.modelNames.includes('other'));
    expect(await listed()).toEqual(['other']);
    await sluice.gateway.execute({ type: 'provider.remove', id: 'p' });
    expect(await listed()).toContain('demo-chat');
    events.stop();
    await other.stop();
  });
});

describe('a preset', () => {
  test('fills in what is not given', async () => {
    // Disabled, so that no real service is queried for models.
    const given = { preset: 'mistral', enabled: false };
    const { provider } = await sluice.gateway.execute({ type: 'provider.add', provider: given });
    expect(provider).toMatchObject({
      id: 'mistral',
      name: 'Mistral AI',
      preset: 'mistral',
      baseUrl: 'https://api.mistral.ai/v1',
      askUsage: false,
    });
    const second = await sluice.gateway.execute({
      type: 'provider.add',
      provider: { ...given, name: 'My Mistral', baseUrl: upstream.baseUrl },
    });
    expect(second.provider).toMatchObject({ id: 'my-mistral', baseUrl: upstream.baseUrl, askUsage: false });
  });

  test('whose address has to be completed says so', async () => {
    const work = sluice.gateway.execute({ type: 'provider.add', provider: { preset: 'azure' } });
    expect(await refusalOf(work)).toMatchObject({
      code: 'invalid_command',
      message: expect.stringContaining('{resource}'),
    });
  });

  test('each one is listed', async () => {
    const presets = await sluice.gateway.query({ type: 'presets' });
    expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining(['openai', 'azure', 'ollama', 'custom']));
  });
});

test('a provider is tested for real', async () => {
  await add();
  upstream.answer(({ method }, response) =>
    json(response, method === 'GET' ? { data: [{ id: 'gpt-x' }] } : { choices: [] }),
  );
  expect(await sluice.gateway.query({ type: 'provider-test', id: 'p' })).toMatchObject({
    ok: true,
    modelCount: 1,
    call: { model: 'gpt-x' },
  });
  upstream.answer((_request, response) => json(response, { error: { message: 'sk-upstream is wrong' } }, 401));
  const failed = await sluice.gateway.query({ type: 'provider-test', id: 'p' });
  expect(failed).toMatchObject({ ok: false, failedAt: 'credential' });
  expect(JSON.stringify(failed)).not.toContain('sk-upstream');
});
