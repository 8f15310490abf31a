import { expect, test } from 'vitest';
import { locateGemini } from '../../../../server/apis/gemini/routes.ts';
import { openaiApi } from '../../../../server/apis/openai/routes.ts';
import { Registry, servedApis } from '../../../../server/apis/registry.ts';

const verb = '/models/{model}:generateContent';

test.each([
  ['/v1beta/models/gemini-3-pro:generateContent', '', verb, 'gemini-3-pro'],
  ['/v1beta/models/a%2Fb%3Ac:generateContent', '', verb, 'a/b:c'],
  ['/v1beta/tunedModels/mine:generateContent', '', verb, 'tunedModels/mine'],
  ['/v1alpha/models/x:generateContent', '', verb, 'x'],
  ['/v1/models/qwen3:8b:generateContent', '', verb, 'qwen3:8b'],
  ['/v1beta/models/x:streamGenerateContent', '?alt=sse&a=b', '/models/{model}:streamGenerateContent?alt=sse', 'x'],
  ['/v1beta/models/x:streamGenerateContent', '?alt=json', '/models/{model}:streamGenerateContent', 'x'],
  ['/v1beta/models/x:nothing', '', '/models/x:nothing', null],
  ['/v1beta/models/', '', '/models', null],
  ['/v1beta/models/x', '', '/models/x', null],
  ['/v1beta/cachedContents', '', '/cachedContents', null],
])('%s%s is %s of %s', (path, query, found, model) => {
  expect(locateGemini(path, query)).toMatchObject({ path: found, model });
});

test('the form of the answer is taken out of the query, and nothing else', () => {
  expect(locateGemini('/v1beta/models/x:generateContent', '?a=b&alt=json&c')?.query).toBe('?a=b&c');
});

test.each([
  '/v1/models',
  '/v1/models/gpt-x',
  '/v1/models/qwen3:8b',
  '/v1beta/openai/models',
  '/v1/chat',
  '/models/x:generateContent',
])('%s is not Gemini’s', (path) => expect(locateGemini(path, '')).toBeNull());

test('the list of models is Gemini’s where its SDK asks for it', () => {
  const headers = { 'x-goog-api-client': 'google-genai-sdk/2.32.0 gl-node/v24' };
  const registry = new Registry(servedApis);
  expect(registry.locate('/v1/models', headers)).toMatchObject({ path: '/models', api: { name: 'gemini' } });
  expect(registry.locate('/v1/chat/completions', headers)).toMatchObject({ api: openaiApi });
});

test('other APIs keep their paths', () => {
  const registry = new Registry(servedApis);
  expect(registry.locate('/v1/models/qwen3:8b').api).toBe(openaiApi);
  expect(registry.locate('/v1beta/models/x:generateContent').api.name).toBe('gemini');
});
