import { describe, expect, test } from 'vitest';
import { anthropicApi } from '../../../../server/apis/anthropic/routes.ts';
import { openaiApi } from '../../../../server/apis/openai/routes.ts';
import { Registry } from '../../../../server/apis/registry.ts';
import { chooseTranslation } from '../../../../server/exchange/translation/request-translation.ts';
import { readJsonBody } from '../../../../server/http/body/json-body.ts';
import type { Target } from '../../../../server/routing/snapshot.ts';
import { compiledProvider } from '../../../support/providers.ts';

const registry = new Registry([openaiApi, anthropicApi]);

interface Question {
  path: string;
  provider?: Parameters<typeof compiledProvider>[0];
  model?: string | null;
  body?: object;
}

/** The wire on which the request is sent. */
async function wireOf({ path, provider, model = 'm', body = {} }: Question): Promise<string> {
  const target: Target = {
    provider: compiledProvider({ baseUrl: 'https://example.com/v1', ...provider }),
    model,
    priority: 0,
    weight: 1,
  };
  const located = registry.locate(path, path === '/v1/messages' ? { 'anthropic-version': '2023-06-01' } : {});
  const { route } = registry.find('POST', located);
  const read = await readJsonBody(Buffer.from(JSON.stringify(body)), null);
  return (
    chooseTranslation(target, { route, body: read, isStream: false, model }, registry)?.route.wire.name ?? 'as it is'
  );
}

const chatOnly = { baseUrl: 'https://example.com/v1', serves: ['chat' as const] };
const responsesOnly = { baseUrl: 'https://example.com/v1', serves: ['responses' as const] };
const openai = { baseUrl: 'https://api.openai.com/v1', preset: 'openai' };
const tools = [{ type: 'function', function: { name: 'a' } }];

describe('a request goes out', () => {
  test.each<[string, string, Question]>([
    ['as it is where it is unknown what the service has', 'as it is', { path: '/v1/responses' }],
    ['as a chat where the service has no other API', 'openai-chat', { path: '/v1/responses', provider: chatOnly }],
    ['as it is where the service has its API', 'as it is', { path: '/v1/chat/completions', provider: chatOnly }],
    ['as a response where that is all', 'openai-responses', { path: '/v1/chat/completions', provider: responsesOnly }],
    [
      'from Anthropic’s API as a response where that is all',
      'openai-responses',
      { path: '/v1/messages', provider: responsesOnly },
    ],
    [
      'as it is to Azure',
      'as it is',
      { path: '/v1/responses', provider: { baseUrl: 'https://a.openai.azure.com/openai', dialect: 'azure' } },
    ],
    [
      'as the preset knows it',
      'openai-chat',
      { path: '/v1/responses', provider: { baseUrl: 'https://api.cerebras.ai/v1', preset: 'cerebras' } },
    ],
    [
      'as it is to another address than the preset’s',
      'as it is',
      { path: '/v1/responses', provider: { baseUrl: 'https://example.com/v1', preset: 'cerebras' } },
    ],
    ['as a chat to an Anthropic client’s chat provider', 'openai-chat', { path: '/v1/messages' }],
    ['as it is where it is no conversation', 'as it is', { path: '/v1/responses/input_tokens', provider: chatOnly }],
    ['as it is where it is no conversation at all', 'as it is', { path: '/v1/embeddings', provider: responsesOnly }],
    [
      'as a response for a model that has no chat',
      'openai-responses',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-5-pro' },
    ],
    [
      'from Anthropic’s API as a response for such a model',
      'openai-responses',
      { path: '/v1/messages', provider: openai, model: 'o3-pro' },
    ],
    [
      'as it is for such a model of an unknown service',
      'as it is',
      { path: '/v1/chat/completions', model: 'gpt-5-pro' },
    ],
    [
      'as a response with functions for a model that has none in a chat',
      'openai-responses',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-6-astra', body: { tools } },
    ],
    [
      'as it is without functions for such a model',
      'as it is',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-6-astra', body: { tools: [] } },
    ],
    [
      'as a response with functions and an effort',
      'openai-responses',
      {
        path: '/v1/chat/completions',
        provider: openai,
        model: 'gpt-5.6-sol',
        body: { tools, reasoning_effort: 'low' },
      },
    ],
    [
      'as it is with functions alone',
      'as it is',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-5.6-sol', body: { tools } },
    ],
    [
      'as a response with functions where a chat has them without thoughts only',
      'openai-responses',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-6-sol', body: { tools } },
    ],
    [
      'as it is with functions and no thoughts',
      'as it is',
      {
        path: '/v1/chat/completions',
        provider: openai,
        model: 'gpt-6-sol',
        body: { tools, reasoning_effort: 'none' },
      },
    ],
    [
      'as it is for all other models',
      'as it is',
      { path: '/v1/chat/completions', provider: openai, model: 'gpt-5.4', body: { tools, reasoning_effort: 'low' } },
    ],
  ])('%s', async (_name, wire, question) => {
    expect(await wireOf(question)).toBe(wire);
  });
});
