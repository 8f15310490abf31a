import { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { responseObject } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let azure: AzureOpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], groups: [{ id: 'default', passthrough: null }] },
  });
  azure = new AzureOpenAI({ endpoint: gateway.origin, apiKey: testKey, apiVersion: '2024-10-21', maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const messages = [{ role: 'user' as const, content: 'Hi' }];
const completion = { id: 'chatcmpl-1', object: 'chat.completion', choices: [], model: 'gpt-x' };
const seen = () => {
  const { method, url, headers, body } = upstream.seen.at(-1) ?? {};
  return { asked: `${method} ${url}`, headers, body: JSON.parse(body?.toString() || 'null') };
};
const post = (path: string, body: string) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'api-key': testKey, 'content-type': 'application/json' },
    body,
  });

describe('a client of Azure', () => {
  test('is served under the path of its deployment, with its key', async () => {
    upstream.answer((_request, response) => json(response, completion));
    const { response } = await azure.chat.completions.create({ model: 'gpt-x', messages }).withResponse();
    expect(seen()).toMatchObject({
      asked: 'POST /v1/chat/completions',
      headers: { authorization: 'Bearer upstream-secret' },
      body: { model: 'gpt-x' },
    });
    expect(JSON.stringify(seen())).not.toContain(testKey);
    expect(await gateway.record(response.headers.get('x-request-id') ?? '')).toMatchObject({
      route: '/v1/chat/completions',
      modelAsked: 'gpt-x',
      keyId: 'k1',
    });
  });

  test('may leave the model to the path', async () => {
    upstream.answer((_request, response) => json(response, completion));
    const path = '/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21&note=1';
    expect((await post(path, '{"messages":[]}')).status).toBe(200);
    expect(seen()).toMatchObject({ asked: 'POST /v1/chat/completions?note=1', body: { model: 'gpt-x', messages: [] } });
  });

  test.each([
    ['main/gpt-x', 'gpt-x'],
    ['main%2Fgpt-x', 'gpt-x'],
    ['other', 'other'],
  ])('is answered by the model %s of the path, whatever the body says', async (model, served) => {
    upstream.answer((_request, response) => json(response, { object: 'list', data: [{ embedding: [1] }] }));
    const path = `/openai/deployments/${model}/embeddings?api-version=2024-10-21`;
    expect((await post(path, '{"model":"body","input":"Hi"}')).status).toBe(200);
    expect(seen()).toMatchObject({ asked: 'POST /v1/embeddings', body: { model: served } });
  });

  test('has its images, responses and models under /openai', async () => {
    upstream.answer((_request, response) => json(response, { created: 1, data: [{ url: 'x' }] }));
    await azure.images.generate({ model: 'gpt-x', prompt: 'A cat' });
    expect(seen()).toMatchObject({ asked: 'POST /v1/images/generations', body: { model: 'gpt-x' } });
    upstream.answer((_request, response) => json(response, responseObject('completed', { id: 'resp_azure' })));
    await azure.responses.create({ model: 'gpt-x', input: 'Hi' });
    expect(seen()).toMatchObject({ asked: 'POST /v1/responses', body: { model: 'gpt-x' } });
    await azure.responses.retrieve('resp_azure');
    expect(seen().asked).toBe('GET /v1/responses/resp_azure');
    expect((await azure.models.list()).data.map(({ id }) => id)).toEqual(['gpt-x']);
  });

  test('of the newer API has it under /openai/v1', async () => {
    upstream.answer((_request, response) => json(response, completion));
    const path = '/openai/v1/chat/completions?api-version=preview';
    expect((await post(path, '{"model":"gpt-x","messages":[]}')).status).toBe(200);
    expect(seen().asked).toBe('POST /v1/chat/completions');
  });

  test.each([
    '/openai/deployments/gpt-x/nothing?api-version=2024-10-21',
    '/openai/v1/nothing',
    '/openaix/v1/chat/completions',
  ])('gets an error for an unknown path: %s', async (path) => {
    const response = await post(path, '{}');
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'unknown_url' } }]);
  });
});
