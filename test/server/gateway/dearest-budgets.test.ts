/**
 * 100 requests at once, each of them answered on the dearest terms that it allows, exceed a hard budget by one at most: tiers,
 * speeds, searches and what they find, sound in and out, pictures, what is kept in a cache for an hour; on each API.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, testKey } from '../../support/gateway.ts';
import { type ThinkingApi, thinkingProviders } from '../../support/thinking-upstream.ts';
import { eventStream, json, startUpstream } from '../../support/upstream.ts';

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

/** Each part is far dearer than text. */
const price = {
  ...{ input: 1_000, output: 1_000, audioInput: 8_000, audioOutput: 8_000, imageOutput: 12_000 },
  ...{ cacheWrite: 1_250, cacheWriteOneHour: 2_000, webSearch: 1, priorityFactor: 2, fastFactor: 6 },
};
/** Neither the price of a tier nor that of a search is known. */
const plainPrice = { input: 1_000, output: 1_000 };

type Json = Record<string, unknown>;
type Api = Exclude<ThinkingApi, 'converse'>;

interface Counted {
  input?: number;
  output?: number;
  more?: Json;
}

const texts = { chat: { message: { role: 'assistant', content: 'Yes.' } }, completions: { text: 'Yes.' } };
const ofChat = (object: string, choice: Json, { input = 10, output = 10, more }: Counted) => ({
  ...{ id: 'c', object, created: 1, model: 'm', choices: [{ index: 0, ...choice, finish_reason: 'stop' }] },
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...(more?.usage as Json) },
  ...(more?.top as Json),
});

/** Whole answers of these counts. `more.usage`: members of its usage; `more.top`: of the answer. */
const answers: Record<Api, (counted: Counted) => object> = {
  chat: (counted) => ofChat('chat.completion', texts.chat, counted),
  completions: (counted) => ofChat('text_completion', texts.completions, counted),
  responses: ({ input = 10, output = 10, more }) => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', error: null, output: [] },
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output, ...(more?.usage as Json) },
    ...(more?.top as Json),
  }),
  messages: ({ input = 10, output = 10, more }) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Yes.' }],
    usage: { input_tokens: input, output_tokens: output, ...(more?.usage as Json) },
  }),
  gemini: ({ input = 10, output = 10, more }) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'STOP', ...(more?.top as Json) },
    ],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, ...(more?.usage as Json) },
    modelVersion: 'm',
  }),
};

const paths: Record<Api, string> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1beta/models/gemini-3-pro:generateContent',
};

const ask = { role: 'user', content: 'Hi' };
/** Each with at most 1,000 tokens of output. */
const bodies: Record<Api, Json> = {
  chat: { messages: [ask], max_completion_tokens: 1_000 },
  completions: { prompt: 'Hi', max_tokens: 1_000 },
  responses: { input: 'Hi', max_output_tokens: 1_000 },
  messages: { messages: [ask], max_tokens: 1_000 },
  gemini: { contents: [{ parts: [{ text: 'Hi' }] }] },
};
const geminiConfig = (more: Json) => ({ generationConfig: { maxOutputTokens: 1_000, ...more } });
const geminiParts = (part: object) => ({ contents: [{ parts: [part] }], ...geminiConfig({}) });

const sound = Buffer.alloc(30_000, 7).toString('base64');
const spoken = { completion_tokens_details: { audio_tokens: 1_000 } };
const heard = { prompt_tokens_details: { audio_tokens: 9_000 } };
const speaking = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
const chatSound = {
  messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: sound, format: 'mp3' } }] }],
};
const earlierSound = { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }, ask] };
const priority = { usage: {}, top: { service_tier: 'priority' } };
const long = 'word '.repeat(2_000);
const cached = (ttl: string) => ({
  system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl } }],
});
const written = (hour: number, minutes: number) => ({
  cache_creation_input_tokens: hour + minutes,
  cache_creation: { ephemeral_1h_input_tokens: hour, ephemeral_5m_input_tokens: minutes },
});
const searched = { usage: { server_tool_use: { web_search_requests: 20 } } };
const search = (more: Json) => ({ tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }] });
const calls = Array.from({ length: 20 }, () => ({ type: 'web_search_call', action: { type: 'search', query: 'a' } }));
const grounded = { groundingMetadata: { webSearchQueries: Array.from({ length: 20 }, () => 'a') } };
const ofKind = (modality: string, tokenCount: number) => [{ modality, tokenCount }];

interface Row {
  api: Api;
  /** What the request has besides. */
  body: Json;
  answer: Counted;
  /** What the provider bills for each. */
  usd: number;
  amount: number;
  isPlain?: true;
}

const rows: Record<string, Row> = {
  'a spoken answer of a chat': {
    api: 'chat',
    body: speaking,
    answer: { output: 1_000, more: { usage: spoken } },
    usd: 8.01,
    amount: 20,
  },
  'a recording in a chat': {
    api: 'chat',
    body: chatSound,
    answer: { input: 9_000, more: { usage: heard } },
    usd: 72,
    amount: 150,
  },
  'an earlier spoken answer in a chat': {
    api: 'chat',
    body: earlierSound,
    answer: { input: 9_000, more: { usage: heard } },
    usd: 72,
    amount: 150,
  },
  'a spoken answer of Gemini': {
    ...{ api: 'gemini', body: geminiConfig({ responseModalities: ['AUDIO'] }), usd: 8.01, amount: 20 },
    answer: { output: 1_000, more: { usage: { candidatesTokensDetails: ofKind('AUDIO', 1_000) } } },
  },
  'a picture as an answer of Gemini': {
    ...{ api: 'gemini', body: geminiConfig({}), usd: 12.01, amount: 30 },
    answer: { output: 1_000, more: { usage: { candidatesTokensDetails: ofKind('IMAGE', 1_000) } } },
  },
  'a recording sent to Gemini': {
    ...{
      api: 'gemini',
      body: geminiParts({ inlineData: { mimeType: 'audio/ogg', data: sound } }),
      usd: 72,
      amount: 150,
    },
    answer: { input: 9_000, more: { usage: { promptTokensDetails: ofKind('AUDIO', 9_000) } } },
  },
  'a recording stored at Google': {
    ...{
      api: 'gemini',
      body: geminiParts({ fileData: { fileUri: 'files/abc', mimeType: 'audio/ogg' } }),
      usd: 720,
      amount: 1_500,
    },
    answer: { input: 90_000, more: { usage: { promptTokensDetails: ofKind('AUDIO', 90_000) } } },
  },
  'a prompt kept for an hour': {
    api: 'messages',
    body: cached('1h'),
    answer: { input: 0, more: { usage: written(9_000, 0) } },
    usd: 18,
    amount: 50,
  },
  'a prompt kept for minutes': {
    api: 'messages',
    body: cached('5m'),
    answer: { input: 0, more: { usage: written(0, 9_000) } },
    usd: 11.26,
    amount: 50,
  },
  'a fast message': {
    api: 'messages',
    body: { speed: 'fast' },
    answer: { output: 1_000, more: { usage: { speed: 'fast' } } },
    usd: 6.06,
    amount: 20,
  },
  'a fast message of unknown price': {
    api: 'messages',
    body: { speed: 'fast' },
    answer: { output: 1_000, more: { usage: { speed: 'fast' } } },
    usd: 6.06,
    amount: 20,
    isPlain: true,
  },
  ...Object.fromEntries(
    (['chat', 'completions', 'responses'] as const).flatMap((api) =>
      [{ service_tier: 'priority' }, { service_tier: 'auto' }, {}].map((body) => [
        `a ${api} request with ${JSON.stringify(body)}`,
        { api, body, answer: { output: 1_000, more: priority }, usd: 2.02, amount: 10 },
      ]),
    ),
  ),
  'a chat of unknown priority price': {
    api: 'chat',
    body: { service_tier: 'priority' },
    answer: { output: 1_000, more: priority },
    usd: 2.02,
    amount: 10,
    isPlain: true,
  },
  'priority at Google': {
    ...{ api: 'gemini', body: { ...geminiConfig({}), serviceTier: 'priority' }, usd: 2.02, amount: 10 },
    answer: { output: 1_000, more: { usage: { trafficType: 'ON_DEMAND_PRIORITY' } } },
  },
  'some searches for a message': {
    api: 'messages',
    body: search({ max_uses: 20 }),
    answer: { more: searched },
    usd: 20.02,
    amount: 250,
  },
  'any number of searches for a message': {
    api: 'messages',
    body: search({}),
    answer: { more: searched },
    usd: 20.02,
    amount: 250,
  },
  'searches for a response': {
    api: 'responses',
    body: { tools: [{ type: 'web_search' }] },
    answer: { more: { top: { output: calls } } },
    usd: 20.02,
    amount: 250,
  },
  'searches of Google': {
    api: 'gemini',
    body: { ...geminiConfig({}), tools: [{ googleSearch: {} }] },
    answer: { more: { top: grounded } },
    usd: 20.02,
    amount: 250,
  },
  'what was found for a message': {
    api: 'messages',
    body: search({ max_uses: 1 }),
    answer: { input: 50_000 },
    usd: 50,
    amount: 130,
  },
  'what was found for a response': {
    api: 'responses',
    body: { tools: [{ type: 'web_search' }], max_tool_calls: 1 },
    answer: { input: 50_000 },
    usd: 50,
    amount: 130,
  },
  'what was found by Google': {
    api: 'gemini',
    body: { ...geminiConfig({}), tools: [{ google_search: {} }] },
    answer: { input: 50_000 },
    usd: 50,
    amount: 130,
  },
};

async function start(api: Api, { amount, isPlain, group = {} }: { amount: number; isPlain?: boolean; group?: object }) {
  const { path, config, model, secret } = thinkingProviders[api];
  const upstream = await startUpstream();
  running.push(() => upstream.stop());
  const limits = { budgets: [{ unit: 'usd', amount, per: 'day', hard: true }] };
  const provider = (id: string) => mainProvider(upstream.origin + path, { ...config, id, models: [model, '*'] });
  const gateway = await startGateway({
    config: {
      providers: [provider('main'), provider('other')] as ConfigInput['providers'],
      groups: [{ id: 'default', policy: { retries: 0 }, ...group }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }] as ConfigInput['keys'],
      settings: { prices: { [model]: isPlain ? plainPrice : price } },
    },
    secrets: { 'provider/main/c1': secret },
  });
  running.push(() => gateway.stop());
  const send = (more: Json) =>
    fetch(gateway.origin + paths[api], {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...(api === 'gemini' ? {} : { model }), ...bodies[api], ...more }),
    });
  return { upstream, gateway, send };
}

test.each(Object.entries(rows))('%s', async (_, { api, body, answer, usd, amount, isPlain }) => {
  const { upstream, send } = await start(api, { amount, ...(isPlain && { isPlain }) });
  upstream.answer(async (_request, response) => {
    await delay(100);
    json(response, answers[api](answer));
  });
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const reply = await send(body);
      await reply.arrayBuffer();
      return reply.status;
    }),
  );
  const answered = statuses.filter((status) => status === 200).length;
  // 402: the budget is spent, in Anthropic's words.
  expect(statuses.filter((status) => ![200, 402, 429].includes(status))).toEqual([]);
  expect(answered).toBeGreaterThan(0);
  expect(upstream.seen).toHaveLength(answered);
  expect(answered * usd).toBeLessThanOrEqual(amount + usd);
});

test.each(['chat', 'responses', 'messages'] as const)(
  'a cut stream of %s counts on the terms that it asked for',
  async (api) => {
    const { upstream, gateway, send } = await start(api, { amount: 100 });
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(': here\n\n', () => setImmediate(() => response.destroy()));
    });
    const reply = await send({
      stream: true,
      ...(api === 'messages' ? { speed: 'fast' } : { service_tier: 'priority' }),
    });
    await reply.text();
    const { costUsd, usageCertainty } = await gateway.record(reply.headers.get('x-request-id') ?? '');
    expect(usageCertainty).toBe('reserved');
    expect(costUsd).toBeGreaterThan(api === 'messages' ? 6 : 2);
  },
);

test('both of a hedged request are reserved', async () => {
  const group = { policy: { retries: 0, hedgeAfterMs: 20 } };
  const { upstream, send } = await start('chat', { amount: 10, group });
  let asked = 0;
  upstream.answer(async (_request, response) => {
    asked += 1;
    await delay(150);
    json(response, answers.chat({ output: 1_000 }));
  });
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await send({ service_tier: 'default' })).status),
  );
  expect(statuses).toContain(200);
  // Each costs $1.01, and one request is two of them.
  expect(asked * 1.01).toBeLessThanOrEqual(10 + 2 * 1.01);
});
