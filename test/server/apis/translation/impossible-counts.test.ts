/** A count that an upstream cannot mean (1e308 tokens, -1, half of one) is told to no client as the usage of its answer. */
import { describe, expect, test } from 'vitest';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { CountTranslator } from '../../../../server/apis/translation/count-translator.ts';
import { createEmbeddingsTranslator } from '../../../../server/apis/translation/embeddings-translator.ts';
import { isWireName, wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { answered, type Json, streamed, streamOf, targetOf, translate } from './translating.ts';

const impossible = [1e308, -1e308, -1, 2 ** 60, '1e308', 'many', null, [1e308], { count: 1e308 }];

const requests: Record<WireName, Json> = {
  'openai-chat': {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    stream_options: { include_usage: true },
  },
  'openai-responses': { model: 'm', input: 'Hi', store: false },
  'anthropic-messages': { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  'gemini-generate': { model: 'm', contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};

interface Sample {
  whole(count: unknown): Json;
  events?(count: unknown): readonly (Json | string)[];
}

const chatUsage = (count: unknown) => ({
  ...{ prompt_tokens: count, completion_tokens: count, total_tokens: count },
  prompt_tokens_details: { cached_tokens: count },
  completion_tokens_details: { reasoning_tokens: count },
});
const responseOf = (count: unknown) => ({
  ...{ id: 'resp_1', object: 'response', status: 'completed' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    },
  ],
  usage: {
    ...{ input_tokens: count, output_tokens: count, total_tokens: count },
    input_tokens_details: { cached_tokens: count },
    output_tokens_details: { reasoning_tokens: count },
  },
});
const claudeUsage = (count: unknown) => ({
  ...{ input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count },
  cache_creation: { ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count },
});
const geminiOf = (count: unknown) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    ...{ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count },
    ...{ cachedContentTokenCount: count, thoughtsTokenCount: count },
  },
});

const samples: Record<UpstreamWireName, Sample> = {
  'openai-chat': {
    whole: (count) => ({
      id: 'c1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: chatUsage(count),
    }),
    events: (count) => [
      { id: 'c1', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] },
      { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { id: 'c1', choices: [], usage: chatUsage(count) },
      '[DONE]',
    ],
  },
  'openai-responses': {
    whole: responseOf,
    events: (count) => [
      { type: 'response.created', response: { id: 'resp_1', output: [] } },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello' },
      { type: 'response.completed', response: responseOf(count) },
    ],
  },
  'anthropic-messages': {
    whole: (count) => ({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      ...{ stop_reason: 'end_turn', usage: claudeUsage(count) },
    }),
    events: (count) => [
      {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: claudeUsage(count) },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: count } },
      { type: 'message_stop' },
    ],
  },
  'gemini-generate': { whole: geminiOf, events: (count) => [geminiOf(count)] },
  'bedrock-converse': {
    whole: (count) => ({
      output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
      stopReason: 'end_turn',
      usage: {
        ...{ inputTokens: count, outputTokens: count, totalTokens: count },
        ...{ cacheReadInputTokens: count, cacheWriteInputTokens: count },
      },
    }),
  },
};

/** The numbers in an answer that count something. */
function countsIn(value: unknown, isInUsage = false): number[] {
  if (typeof value === 'number') return isInUsage ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => countsIn(member, isInUsage || /usage/i.test(name)));
}

const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
const dataOf = (stream: string) =>
  [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']): unknown => JSON.parse(data));

const pairs = (Object.keys(wireTranslations) as WireName[]).flatMap((from) =>
  (Object.keys(samples) as UpstreamWireName[]).filter((to) => to !== from).map((to) => [from, to] as const),
);

describe.each(pairs)('a client of %s is told no impossible count of %s', (from, to) => {
  const way = { from, to, model: 'm' };
  const { whole, events } = samples[to];

  test.each(impossible)('in a whole answer: %j', (count) => {
    const told = countsIn(answered(translate(way, requests[from]), whole(count)));
    expect(told.filter((each) => !isCount(each))).toEqual([]);
  });

  // Converse's streams have no samples here.
  if (events)
    test.each(impossible)('in a stream: %j', (count) => {
      const request = translate(way, { ...requests[from], stream: true });
      const stream = streamed(request, [streamOf(events(count), isWireName(to) && to !== 'openai-chat')]);
      expect(stream).toContain('Hello');
      expect(countsIn(dataOf(stream)).filter((each) => !isCount(each))).toEqual([]);
    });

  test('and the true ones are', () => {
    expect(countsIn(answered(translate(way, requests[from]), whole(3))).length).toBeGreaterThan(1);
  });
});

describe('of embeddings', () => {
  const vector = [0.5];
  const answers = {
    'openai-embeddings': (count: unknown) => ({
      data: [{ index: 0, embedding: vector }],
      usage: { prompt_tokens: count },
    }),
    'gemini-embeddings': (count: unknown) => ({
      embeddings: [{ values: vector }],
      usageMetadata: { promptTokenCount: count },
    }),
    'vertex-predict': (count: unknown) => ({
      predictions: [{ embeddings: { values: vector, statistics: { token_count: count } } }],
    }),
    'vertex-embed-content': (count: unknown) => ({
      embedding: { values: vector },
      usageMetadata: { promptTokenCount: count },
    }),
    'bedrock-embeddings': (count: unknown) => ({ embedding: vector, inputTextTokenCount: count }),
  };
  const clients = {
    'openai-embeddings': { model: 'amazon.titan-embed-text-v1', input: 'Hi' },
    'gemini-embeddings': { model: 'amazon.titan-embed-text-v1', content: { parts: [{ text: 'Hi' }] } },
  };
  const ways = (Object.keys(clients) as (keyof typeof clients)[]).flatMap((client) =>
    (Object.keys(answers) as (keyof typeof answers)[]).map((upstream) => [client, upstream] as const),
  );

  test.each(ways)('a client of %s is told none of %s', (client, upstream) => {
    const translator = createEmbeddingsTranslator(client, upstream, true);
    for (const count of impossible) {
      const request = translator?.open(Buffer.from(JSON.stringify(clients[client])))({
        model: 'amazon.titan-embed-text-v1',
      });
      const answer = request?.whole(Buffer.from(JSON.stringify(answers[upstream](count))));
      expect(answer?.ok).toBe(true);
      const told = answer?.ok ? countsIn(JSON.parse(answer.body.toString())) : [Number.NaN];
      expect(told.filter((each) => !isCount(each))).toEqual([]);
    }
  });
});

test.each(['anthropic-messages', 'gemini-generate', 'openai-responses'] as const)(
  'an impossible count of tokens by %s is no answer',
  (counting) => {
    const translator = new CountTranslator('openai-chat', counting, (tokens) => ({ tokens }));
    for (const count of impossible) {
      const request = translator.open(Buffer.from(JSON.stringify(requests['openai-chat'])))(targetOf('m'));
      for (const name of ['input_tokens', 'totalTokens', 'inputTokens'])
        expect(request.whole(Buffer.from(JSON.stringify({ [name]: count })))).toBeNull();
    }
  },
);
