/** Paths as clients with a wrong base URL ask for them: forgiven, or answered with what to set, in the API's own form. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  upstream = await startUpstream((_request, response) =>
    json(response, { id: 'c', object: 'chat.completion', model: 'gpt-x', choices, usage }),
  );
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const messages = [{ role: 'user', content: 'Hi' }];
const bodies = {
  openai: { model: 'gpt-x', messages },
  anthropic: { model: 'gpt-x', max_tokens: 9, messages },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};
const headersOf = {
  openai: { authorization: `Bearer ${testKey}` },
  anthropic: { 'x-api-key': testKey, 'anthropic-version': '2023-06-01' },
  gemini: { 'x-goog-api-key': testKey },
};

type Name = keyof typeof bodies;

const post = (api: Name, path: string) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf[api] },
    body: JSON.stringify(bodies[api]),
  });

const model = 'models/gpt-x:generateContent';

test.each<[Name, string]>([
  ['openai', '//v1/chat/completions'],
  ['openai', '/v1//chat/completions'],
  ['openai', '///v1///chat//completions'],
  ['openai', '/v1/chat/completions//'],
  ['openai', '/v1/v1/chat/completions'],
  ['openai', '/v1//v1/chat/completions?a=//b'],
  ['openai', '//openai//v1/chat/completions'],
  ['openai', '//openai/deployments/gpt-x//chat/completions'],
  ['anthropic', '//v1/messages'],
  ['anthropic', '/v1//messages'],
  ['anthropic', '/v1//v1/messages?beta=true'],
  ['gemini', `//v1beta/${model}`],
  ['gemini', `/v1beta//${model}`],
  ['gemini', `/v1beta/v1beta/${model}`],
  ['gemini', `/v1beta/v1alpha/${model}`],
  ['gemini', `/v1/v1beta/${model}`],
  ['gemini', `/v1beta/v1/${model}`],
  ['gemini', `/v1//${model}`],
])('%s’s client is forgiven %s', async (api, path) => {
  const response = await post(api, path);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi')]);
});

test.each([
  ['//v1/models', headersOf.openai, 'object'],
  ['/v1//models', headersOf.anthropic, 'has_more'],
  ['/v1beta/v1beta/models', headersOf.gemini, 'models'],
  ['/v1//models', headersOf.gemini, 'models'],
])('the list of models is found at %s, in the form of who asks', async (path, headers, member) => {
  const response = await fetch(gateway.origin + path, { headers });
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ [member]: expect.anything() }),
  ]);
});

test.each<[Name, string, string, string]>([
  ['openai', '/chat/completions', '/v1/chat/completions', 'it lacks "/v1" at its end'],
  ['openai', '/responses', '/v1/responses', 'it lacks "/v1" at its end'],
  ['openai', '/api/v1/chat/completions', '/v1/chat/completions', 'it has "/api" too much'],
  ['anthropic', '/messages', '/v1/messages', 'it lacks "/v1" at its end'],
  ['anthropic', '/messages/count_tokens', '/v1/messages/count_tokens', 'it lacks "/v1" at its end'],
  ['anthropic', '/anthropic/v1/messages', '/v1/messages', 'it has "/anthropic" too much'],
  [
    'anthropic',
    '/api/anthropic/v1/messages/count_tokens',
    '/v1/messages/count_tokens',
    'it has "/api/anthropic" too much',
  ],
  ['gemini', `/${model}`, `/v1beta/${model}`, 'it lacks "/v1beta" at its end'],
  ['gemini', `/gemini/v1beta/${model}`, `/v1beta/${model}`, 'it has "/gemini" too much'],
])('%s’s client is told in its own form what to set for %s', async (api, path, better, how) => {
  for (const headers of [headersOf[api], { authorization: `Bearer ${testKey}` }]) {
    const response = await fetch(gateway.origin + path, { method: 'POST', headers, body: '{}' });
    const { type, error } = await response.json();
    expect([response.status, error.message]).toEqual([404, expect.stringContaining(`calls ${better}: ${how}.`)]);
    expect([type, error.status ?? error.code ?? error.type]).toEqual(
      { openai: [undefined, 'unknown_url'], anthropic: ['error', 'not_found_error'], gemini: [undefined, 'NOT_FOUND'] }[
        api
      ],
    );
  }
});

test.each<[string, string]>([
  ['GET', '/v1/videos//content'],
  ['GET', '/v1/responses//input_items'],
  ['GET', '/v1/files//content'],
])('an id that was left out is none: %s %s', async (method, path) => {
  const response = await fetch(gateway.origin + path, { method, headers: headersOf.openai });
  expect(response.status).toBe(404);
});

test('doubled slashes in the name of a model are its own', async () => {
  const path = '/v1beta/models/hf.co//gpt:generateContent';
  const response = await post('gemini', path);
  expect(response.status).toBe(200);
  expect(JSON.parse(String(upstream.seen.at(-1)?.body)).model).toBe('hf.co//gpt');
});
