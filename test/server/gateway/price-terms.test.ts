/**
 * A service tier, a speed and searches that an answer reports set its price: an unusual one is not taken for the usual. Every
 * API, whole and streamed, short and with an answer of 200 kB.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const price = { input: 1_000, output: 1_000, webSearch: 0.01, priorityFactor: 2, flexFactor: 0.5, fastFactor: 6 };

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await start({ id: 'k1', group: 'default', hash: hashOf(testKey) });
});

type Key = NonNullable<ConfigInput['keys']>[number];

function start(key: Key): Promise<TestGateway> {
  const models = ['*'];
  return startGateway({
    config: {
      providers: [
        { id: 'openai', baseUrl: upstream.baseUrl, models },
        { id: 'anthropic', dialect: 'anthropic', baseUrl: upstream.origin, models },
        { id: 'gemini', dialect: 'gemini', baseUrl: `${upstream.origin}/v1beta`, models },
      ],
      groups: [{ id: 'default' }],
      keys: [key],
      settings: {
        prices: {
          m: price,
          plain: { input: 1_000, output: 1_000 },
          grounded: { input: 1_000, output: 1_000, groundedRequest: 0.035 },
        },
      },
    },
  });
}
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface Told {
  tier?: string;
  searches?: number;
}

interface Api {
  path(model: string, isStream: boolean): string;
  body(model: string, isStream: boolean): object;
  whole(told: Told, text: string): object;
  events(told: Told, text: string): object[];
}

const query = { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'a' } };
const page = { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'https://a.example' } };
const ask = { role: 'user', content: 'Hi' };

const apis: Record<string, Api> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model, stream) => ({ model: `openai/${model}`, messages: [ask], stream }),
    whole: ({ tier }, content) => ({
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm', service_tier: tier },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    }),
    events: ({ tier }, content) => {
      const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', service_tier: tier };
      return [
        { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { ...chunk, choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } },
      ];
    },
  },
  responses: {
    path: () => '/v1/responses',
    body: (model, stream) => ({ model: `openai/${model}`, input: 'Hi', stream }),
    whole: ({ tier, searches = 0 }, text) => ({
      ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'm', service_tier: tier },
      output: [
        ...Array.from({ length: searches }, () => query),
        ...(searches > 0 ? [page] : []),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
      ],
      usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
    }),
    events: (told, text) => [
      { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } },
      { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: text },
      { type: 'response.completed', response: apis.responses?.whole(told, 'Hi') },
    ],
  },
  messages: {
    path: () => '/v1/messages',
    body: (model, stream) => ({ model: `anthropic/${model}`, max_tokens: 99, messages: [ask], stream }),
    whole: ({ tier, searches = 0 }, text) => ({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text }],
      usage: {
        ...{ input_tokens: 10, output_tokens: 10, service_tier: 'standard', speed: tier },
        server_tool_use: { web_search_requests: searches },
      },
    }),
    events: ({ tier, searches = 0 }, text) => [
      {
        type: 'message_start',
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
          usage: { input_tokens: 10, output_tokens: 1, service_tier: 'standard', speed: tier },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      {
        ...{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
        usage: { input_tokens: 10, output_tokens: 10, server_tool_use: { web_search_requests: searches } },
      },
      { type: 'message_stop' },
    ],
  },
  gemini: {
    path: (model, isStream) =>
      `/v1beta/models/gemini%2F${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
    whole: ({ tier, searches = 0 }, text) => ({
      candidates: [
        {
          ...{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 },
          ...(searches > 0 && { groundingMetadata: { webSearchQueries: Array.from({ length: searches }, () => 'a') } }),
        },
      ],
      usageMetadata: {
        ...{ promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
        ...(tier !== undefined && { trafficType: `ON_DEMAND_${tier.toUpperCase()}` }),
      },
    }),
    events: (told, text) => [
      { candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] },
      apis.gemini?.whole(told, '.') ?? {},
    ],
  },
};

const texts = { short: 'Hello', long: 'word '.repeat(40_000) };

async function costOf(api: Api, told: Told, how: { isStream: boolean; text: string; model?: string }) {
  const { isStream, text, model = 'm' } = how;
  upstream.answer(async (_request, response) => {
    if (!isStream) return json(response, api.whole(told, text));
    eventStream(response);
    const events = api.events(told, text).map((event) => {
      const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    });
    const bytes = Buffer.from(events.join(''));
    await sendPieces(response, bytes, bytes.length > 1_000 ? [10, 200, bytes.length - 150] : [10]);
  });
  const answer = await fetch(gateway.origin + api.path(model, isStream), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${testKey}` },
    body: JSON.stringify(api.body(model, isStream)),
  });
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
  return (await gateway.record(answer.headers.get('x-request-id') ?? '')).costUsd;
}

const usual = 0.02;

function unreachable(): never {
  throw new Error('unreachable');
}

const cells = Object.entries(apis).flatMap(([name, api]) =>
  [false, true].flatMap((isStream) =>
    Object.entries(texts).map(
      ([length, text]) => [name, isStream ? 'streamed' : 'whole', length, { api, isStream, text }] as const,
    ),
  ),
);

test.each(cells)('a tier that an answer of %s, %s and %s, reports sets its cost', async (name, _way, _length, cell) => {
  const tiers = name === 'messages' ? { fast: 6 } : { priority: 2, flex: 0.5 };
  expect(await costOf(cell.api, {}, cell)).toBeCloseTo(usual, 9);
  for (const [tier, factor] of Object.entries(tiers)) {
    expect(await costOf(cell.api, { tier }, cell)).toBeCloseTo(usual * factor, 9);
    // Without a price of the tier, the cost is unknown, and not the usual one.
    expect(await costOf(cell.api, { tier }, { ...cell, model: 'plain' })).toBeNull();
  }
});

test.each(cells.filter(([name]) => name !== 'chat'))(
  'searches that an answer of %s, %s and %s, reports are a part of its cost',
  async (_name, _way, _length, cell) => {
    expect(await costOf(cell.api, { searches: 50 }, cell)).toBeCloseTo(usual + 0.5, 9);
    expect(await costOf(cell.api, { searches: 50 }, { ...cell, model: 'grounded' })).toBeCloseTo(usual + 0.035, 9);
    expect(await costOf(cell.api, { searches: 1 }, { ...cell, model: 'plain' })).toBeNull();
  },
);

const cited = [
  { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 } },
];
const chatUsage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const searchedChats: Record<string, { usage?: object; annotations?: object[]; searches: number }> = {
  'citations alone': { annotations: [...cited, ...cited], searches: 1 },
  'a count of OpenRouter': { usage: { server_tool_use: { web_search_requests: 3 } }, annotations: cited, searches: 3 },
  'a count of LiteLLM': { usage: { prompt_tokens_details: { web_search_requests: 2 } }, searches: 2 },
  'a count of Perplexity': { usage: { num_search_queries: 4 }, searches: 4 },
  'a count of none': { usage: { num_search_queries: 0 }, annotations: [], searches: 0 },
};

describe.each(Object.entries(searchedChats))('a chat that tells its searches by %s', (_how, told) => {
  test.each([false, true])('costs them, too (streamed: %s)', async (isStream) => {
    const chat = apis.chat ?? unreachable();
    const usage = { ...chatUsage, ...told.usage };
    const { annotations } = told;
    const api: Api = {
      ...chat,
      whole: () => ({
        ...chat.whole({}, 'Hi'),
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', annotations }, finish_reason: 'stop' }],
        usage,
      }),
      events: () => [
        { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] },
        { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { annotations }, finish_reason: 'stop' }] },
        { object: 'chat.completion.chunk', choices: [], usage },
      ],
    };
    const cost = await costOf(api, {}, { isStream, text: '' });
    expect(cost).toBeCloseTo(usual + told.searches * price.webSearch, 9);
  });
});

test.each([
  ['chat', { service_tier: 'priority' }],
  ['responses', { service_tier: 'priority' }],
  ['messages', { speed: 'fast' }],
] as const)('a tier that a request of %s asks for is reserved at its price', async (name, asked) => {
  const limits = { budgets: [{ unit: 'usd' as const, amount: 1.5, per: 'day' as const, hard: true }] };
  const admitted = async (more: object) => {
    const own = await start({ id: 'k1', group: 'default', hash: hashOf(testKey), limits });
    // The first one is answered when the second one was received, or refused.
    const both = Promise.withResolvers<void>();
    let received = 0;
    upstream.answer(async (_request, response) => {
      received += 1;
      if (received === 2) both.resolve();
      await both.promise;
      json(response, apis[name]?.whole({}, 'Hi'));
    });
    const { path, body } = apis[name] ?? unreachable();
    const most = name === 'responses' ? { max_output_tokens: 1_000 } : { max_tokens: 1_000 };
    const send = async () => {
      const { status } = await fetch(own.origin + path('m', false), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${testKey}` },
        body: JSON.stringify({ ...body('m', false), ...most, ...more }),
      });
      if (status === 429) both.resolve();
      return status;
    };
    const statuses = await Promise.all([send(), send()]);
    await own.stop();
    return statuses.sort();
  };
  // Without a tier, a project's settings may choose `priority`.
  expect(await admitted(name === 'messages' ? {} : { service_tier: 'default' })).toEqual([200, 200]);
  expect(await admitted(asked)).toEqual([200, 429]);
});

test('what a model writes about tiers and searches sets no price', async () => {
  const text =
    '"service_tier":"priority" {"usage":{"speed":"fast","server_tool_use":{"web_search_requests":9}}} "type":"url_citation"';
  for (const api of Object.values(apis)) {
    for (const isStream of [false, true]) expect(await costOf(api, {}, { isStream, text })).toBeCloseTo(usual, 9);
  }
});
