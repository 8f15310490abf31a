import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import { bodyOf, completion, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: GoogleGenAI;

beforeAll(async () => {
  upstream = await startUpstream(
    strictChat((_body, response) => json(response, completion({ content: 'Hello there' }))),
  );
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { models: ['gpt-x', 'deepseek/deepseek-v4:free'] })],
      aliases: [{ name: 'gemini-2.5-flash', targets: [{ provider: 'main', model: 'llama-3.3' }] }],
    },
  });
  client = geminiAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const hello = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const withKey = { 'x-goog-api-key': testKey };

function post(path: string, { headers = withKey, body = hello }: { headers?: object; body?: object } = {}) {
  return fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

test.each([
  ['/v1beta/models/gpt-x:generateContent', 'gpt-x'],
  ['/v1beta/models/gpt-x%3AgenerateContent', 'gpt-x'],
  ['/v1/models/gpt-x:generateContent', 'gpt-x'],
  ['/v1alpha/models/gpt-x:generateContent', 'gpt-x'],
  ['/v1beta/models/gpt-x:generateContent?alt=json', 'gpt-x'],
  ['/v1beta/models/gpt-x:streamGenerateContent?alt=sse', 'gpt-x'],
  ['/v1beta/models/main/gpt-x:generateContent', 'gpt-x'],
  ['/v1beta/models/deepseek/deepseek-v4:free:generateContent', 'deepseek/deepseek-v4:free'],
  ['/v1beta/models/deepseek%2Fdeepseek-v4%3Afree:generateContent', 'deepseek/deepseek-v4:free'],
  ['/v1beta/models/gemini-2.5-flash:generateContent', 'llama-3.3'],
])('%s asks for the model %s', async (path, model) => {
  expect((await post(path)).status).toBe(200);
  const seen = upstream.seen.at(-1);
  expect(seen?.url).toBe('/v1/chat/completions');
  expect(seen && bodyOf(seen).model).toBe(model);
});

test('a model whose name has slashes works as the SDK writes it', async () => {
  const reply = await client.models.generateContent({ model: 'deepseek/deepseek-v4:free', contents: 'Hi' });
  expect(reply).toMatchObject({ text: 'Hello there', modelVersion: 'deepseek/deepseek-v4:free' });
});

test('the key is taken from its header, from the query or as a bearer, and goes nowhere', async () => {
  const path = '/v1beta/models/gpt-x:generateContent';
  expect((await post(path, { headers: {} })).status).toBe(403);
  expect((await post(path, { headers: { 'x-goog-api-key': 'wrong' } })).status).toBe(400);
  expect((await post(path, { headers: { 'x-goog-api-key': '', authorization: `Bearer ${testKey}` } })).status).toBe(
    200,
  );
  expect((await post(`${path}?key=${encodeURIComponent(testKey)}`, { headers: {} })).status).toBe(200);
  const seen = upstream.seen.at(-1);
  expect(seen?.url).toBe('/v1/chat/completions');
  expect(seen?.headers['x-goog-api-key']).toBeUndefined();
});

test('tokens are counted here, rather too many than too few, and the count is marked', async () => {
  const count = upstream.seen.length;
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
  const { totalTokens } = await client.models.countTokens({ model: 'gpt-x', contents: text });
  expect(totalTokens).toBeGreaterThan(1000);
  expect(totalTokens).toBeLessThan(2000);
  const request = { ...hello, systemInstruction: { parts: [{ text }] } };
  const whole = await post('/v1beta/models/gpt-x:countTokens', { body: { generateContentRequest: request } });
  expect((await whole.json()).totalTokens).toBeGreaterThan(totalTokens ?? 0);
  expect(whole.headers.get('x-sluice-estimated')).toBe('totalTokens');
  expect(upstream.seen.length).toBe(count);
  expect(await gateway.record(whole.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
    route: '/v1beta/models/{model}:countTokens',
    outcome: 'ok',
    usage: null,
  });
  expect((await post('/v1beta/models/nobodys:countTokens')).status).toBe(404);
});

test('models are listed as Google lists them, and as OpenAI does to whoever does not speak its API', async () => {
  const names: (string | undefined)[] = [];
  for await (const { name } of await client.models.list()) names.push(name);
  expect(names).toEqual(expect.arrayContaining(['models/gpt-x', 'models/gemini-2.5-flash']));
  expect(await client.models.get({ model: 'gpt-x' })).toMatchObject({ name: 'models/gpt-x', displayName: 'gpt-x' });
  await expect(client.models.get({ model: 'nobodys' })).rejects.toMatchObject({ status: 404 });
  const v1 = new GoogleGenAI({ apiKey: testKey, apiVersion: 'v1', httpOptions: { baseUrl: gateway.origin } });
  expect((await v1.models.get({ model: 'gpt-x' })).name).toBe('models/gpt-x');
  const { data } = await gateway.client.models.list();
  expect(data[0]).toMatchObject({ object: 'model' });
});

test('what a chat provider does not accept is reported, or refused if the client accepts no losses', async () => {
  const path = '/v1beta/models/gpt-x:generateContent';
  const body = { ...hello, generationConfig: { topK: 5 }, safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT' }] };
  const told = (await post(path, { body })).headers.get('x-sluice-dropped') ?? '';
  expect(told).toContain('generationConfig.topK');
  expect(told).toContain('safetySettings');
  const refused = await post(path, { body, headers: { ...withKey, 'x-sluice-lossy': 'refuse' } });
  expect([refused.status, (await refused.json()).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
});

describe('an error of Sluice itself is told in Google’s shape', () => {
  const path = '/v1beta/models/gpt-x:generateContent';
  const told = async (response: Response) => {
    const { error } = JSON.parse(await response.text());
    expect(error.code).toBe(response.status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    return [response.status, error.status, error.message];
  };

  test.each([
    ['a wrong key', () => post(path, { headers: { 'x-goog-api-key': 'x' } }), 400, 'INVALID_ARGUMENT', /key/],
    ['no key', () => post(path, { headers: {} }), 403, 'PERMISSION_DENIED', /key/],
    ['no model of ours', () => post('/v1beta/models/nobodys:generateContent'), 404, 'NOT_FOUND', /nobodys/],
    ['another path', () => post('/v1beta/cachedContents'), 404, 'NOT_FOUND', /v1beta\/cachedContents/],
    ['another method', () => fetch(gateway.origin + path, { headers: withKey }), 405, 'INVALID_ARGUMENT', /GET/],
    ['no contents', () => post(path, { body: {} }), 400, 'INVALID_ARGUMENT', /contents/],
    [
      'a wrong role',
      () => post(path, { body: { contents: [{ role: 'robot' }] } }),
      400,
      'INVALID_ARGUMENT',
      /contents\[0\]\.role/,
    ],
  ] as const)('%s', async (_name, ask, status, name, message) => {
    expect(await told(await ask())).toEqual([status, name, expect.stringMatching(message)]);
  });

  test('a wrong key, so that Google’s clients know it', async () => {
    const { error } = await (await post(path, { headers: { 'x-goog-api-key': 'x' } })).json();
    expect(error.details).toMatchObject([{ reason: 'API_KEY_INVALID' }]);
  });
});
