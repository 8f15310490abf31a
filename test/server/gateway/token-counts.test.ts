/** The official SDK of each API counts tokens with a provider of each API. */
import type Anthropic from '@anthropic-ai/sdk';
import type { GoogleGenAI } from '@google/genai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answeringProviders } from '../../support/answering-providers.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { geminiKey } from '../../support/strict-gemini.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const upstreams: Record<string, ScriptedUpstream> = {};
let gateway: TestGateway;
let openai: OpenAI;
let claude: Anthropic;
let gemini: GoogleGenAI;

/** Google's route takes the request as a member of the body. */
const countOfGoogle: Script = (request, response) => {
  const isAsked = request.url.endsWith(':countTokens') && request.headers['x-goog-api-key'] === geminiKey;
  json(response, isAsked ? { totalTokens: 1234 } : { error: { code: 400, message: request.url } }, isAsked ? 200 : 400);
};

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = { 'provider/both/c1': 'k' };
  const both = await startUpstream();
  upstreams.both = both;
  providers.push(mainProvider(both.baseUrl, { id: 'both', models: ['gpt-4.1'], serves: ['chat', 'responses'] }));
  for (const [id, { model, config, basePath, secret, script }] of Object.entries(answeringProviders)) {
    const upstream = await startUpstream(id === 'gemini' ? countOfGoogle : script(() => ({ text: 'unasked' })));
    upstreams[id] = upstream;
    providers.push(mainProvider(upstream.origin + basePath, { id, models: [model], ...config }));
    secrets[`provider/${id}/c1`] = secret;
  }
  gateway = await startGateway({ config: { providers }, secrets });
  openai = gateway.client;
  claude = claudeAt(gateway);
  gemini = geminiAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.seen.length = 0;
});

const words = 'How is the weather in Köln?';
const clients: Record<string, (model: string) => Promise<unknown>> = {
  responses: async (model) => (await openai.responses.inputTokens.count({ model, input: words })).input_tokens,
  anthropic: async (model) => {
    const messages = [{ role: 'user' as const, content: words }];
    return (await claude.messages.countTokens({ model, messages })).input_tokens;
  },
  gemini: async (model) => (await gemini.models.countTokens({ model, contents: words })).totalTokens,
};

/** Where each provider counts; null if its API does not, so that Sluice estimates. */
const places: Record<string, RegExp | null> = {
  chat: null,
  responses: /^\/v1\/responses\/input_tokens$/,
  anthropic: /^\/v1\/messages\/count_tokens$/,
  gemini: /^\/v1beta\/models\/gemini-3-pro:countTokens$/,
  bedrock: null,
};

describe.each(Object.entries(clients))('the tokens of %s', (_name, count) => {
  test.each(Object.entries(answeringProviders))('in front of %s', async (id, { model }) => {
    const place = places[id] ?? null;
    const tokens = await count(model);
    const asked = upstreams[id]?.seen.map(({ url }) => url);
    if (place === null) {
      expect(asked).toEqual([]);
      expect(tokens).toBeGreaterThan(4);
      expect(tokens).toBeLessThan(40);
    } else {
      expect(asked).toEqual([expect.stringMatching(place)]);
      expect(tokens).toBe(1234);
    }
    expect(upstreams[id]?.seen.every(({ body }) => body.includes(words))).toBe(true);
  });
});

describe('a provider of chats and of Responses', () => {
  const hello = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: words }] };
  const both = () => upstreams.both ?? expect.unreachable();

  test('counts the tokens of a model that is asked by chat', async () => {
    both().answer(answeringProviders.responses?.script(() => ({ text: 'unasked' })) ?? expect.unreachable());
    const { data, response } = await claude.messages.countTokens(hello).withResponse();
    expect([data.input_tokens, response.headers.get('x-sluice-estimated')]).toEqual([1234, null]);
  });

  test('that does not know how to count leaves it to Sluice', async () => {
    both().answer((_request, response) => json(response, { error: { message: 'Unknown request URL' } }, 404));
    const { data, response } = await claude.messages.countTokens(hello).withResponse();
    expect(data.input_tokens).toBeLessThan(40);
    expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
  });
});
