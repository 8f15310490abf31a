/** Usage in the shapes that services give it, in the ledger and as clients of every API are told. */
import { describe, expect, test } from 'vitest';
import { type Api, ask, asTold, expectTold, say, type Told, usageInSuite } from '../../support/usage-told.ts';
import type { Json } from '../apis/translation/translating.ts';

const prices = { input: 1, cachedInput: 0.1, cacheWrite: 2, cacheWriteOneHour: 4, output: 10 };
usageInSuite({ prices: { 'openai.gpt-oss-120b-1:0': prices, 'claude-opus-5-5': prices } });

/** A real answer, whose bill was $0.0232856 (Wei-Shaw/sub2api#5771). */
const grok = {
  ...{ prompt_tokens: 10120, completion_tokens: 1499, total_tokens: 14428 },
  prompt_tokens_details: { cached_tokens: 128 },
  completion_tokens_details: { reasoning_tokens: 2809 },
};

const shapes: [name: string, api: Api, usage: Json, counts: Partial<Told>][] = [
  [
    'xAI’s reasoning, which it counts beside the completion',
    'chat',
    grok,
    { output: 4308, reasoning: 2809, cached: 128 },
  ],
  [
    'xAI’s reasoning, if it is shorter than the completion',
    'chat',
    { ...grok, prompt_tokens: 100, completion_tokens: 5000, total_tokens: 7909, prompt_tokens_details: null },
    { input: 100, output: 7809, reasoning: 2809 },
  ],
  [
    'xAI’s reasoning, of which the completion has next to nothing',
    'chat',
    {
      ...{ prompt_tokens: 12, completion_tokens: 1, total_tokens: 241 },
      completion_tokens_details: { reasoning_tokens: 228 },
    },
    { input: 12, output: 229, reasoning: 228 },
  ],
  [
    'xAI’s reasoning in a response',
    'responses',
    { input_tokens: 12, output_tokens: 1, total_tokens: 241, output_tokens_details: { reasoning_tokens: 228 } },
    { input: 12, output: 229, reasoning: 228 },
  ],
  [
    'a cache beside the prompt and reasoning beside the completion',
    'chat',
    {
      ...{ prompt_tokens: 12, completion_tokens: 1, total_tokens: 341, prompt_tokens_details: { cached_tokens: 100 } },
      completion_tokens_details: { reasoning_tokens: 228 },
    },
    { input: 112, cached: 100, output: 229, reasoning: 228 },
  ],
  [
    'DeepSeek’s cache hits, outside the details',
    'chat',
    { prompt_tokens: 1000, completion_tokens: 10, prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 },
    { input: 1000, cached: 900, output: 10 },
  ],
  [
    'Moonshot’s cache hits, outside the details',
    'chat',
    { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010, cached_tokens: 900 },
    { input: 1000, cached: 900, output: 10 },
  ],
  [
    'a cache beside the prompt, under Anthropic’s names',
    'chat',
    { prompt_tokens: 100, completion_tokens: 10, total_tokens: 1010, cache_read_input_tokens: 900 },
    { input: 1000, cached: 900, output: 10 },
  ],
  [
    'numbers in quotes, and no details',
    'chat',
    { prompt_tokens: '1000', completion_tokens: '10', prompt_tokens_details: null, completion_tokens_details: null },
    { input: 1000, output: 10 },
  ],
  ['the names of responses in a chat', 'chat', { input_tokens: 1000, output_tokens: 10 }, { input: 1000, output: 10 }],
  [
    'Anthropic’s names in a chat, an hour of cache with them',
    'chat',
    {
      ...{ input_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 900, output_tokens: 10 },
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 900 },
    },
    { input: 1000, written: 900, output: 10 },
  ],
  [
    'the names of a chat in a response',
    'responses',
    { prompt_tokens: 1000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 900 } },
    { input: 1000, cached: 900, output: 10 },
  ],
  [
    'singular details in a response',
    'responses',
    { input_tokens: 1000, output_tokens: 10, input_token_details: { cached_tokens: 900 }, output_token_details: null },
    { input: 1000, cached: 900, output: 10 },
  ],
  [
    'numbers in quotes, and null for a cache',
    'anthropic',
    { input_tokens: '1000', cache_read_input_tokens: null, cache_creation: null, output_tokens: '10' },
    { input: 1000, cached: 0, output: 10 },
  ],
  [
    'a cache of which only the lifetimes are counted',
    'anthropic',
    {
      ...{ input_tokens: 100, output_tokens: 10 },
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 700 },
    },
    { input: 1000, written: 900, forAnHour: 700, output: 10 },
  ],
  [
    'numbers in quotes, and the prompt of tools',
    'gemini',
    { promptTokenCount: '900', toolUsePromptTokenCount: '100', candidatesTokenCount: '7', thoughtsTokenCount: '3' },
    { input: 1000, output: 10, reasoning: 3 },
  ],
  [
    'null for what was not cached',
    'converse',
    { inputTokens: 1000, outputTokens: 10, cacheReadInputTokens: null, cacheDetails: null },
    { input: 1000, cached: 0, output: 10 },
  ],
];

test.each(shapes)('%s', async (_name, api, usage, counts) => {
  say({ text: 'Hello', usage });
  await expectTold(api, counts);
});

test('a prompt that a stream of Gemini does not count again is that of the event before', async () => {
  const usage = { promptTokenCount: undefined, candidatesTokenCount: 7, thoughtsTokenCount: 3 };
  say({ text: 'Hello', usage, promptTokens: 1000 });
  const { told, record } = await ask('gemini', 'messages', true);
  expect(asTold(record.usage)).toMatchObject({ input: 1000, output: 10, reasoning: 3 });
  expect(told).toMatchObject({ input: 1000, output: 10 });
});

test.each<[string, Json, Partial<Told>]>([
  [
    'a cache of Azure’s Grok that is larger than the prompt and the total',
    { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8, prompt_tokens_details: { cached_tokens: 163 } },
    { input: 7, cached: 0, output: 1 },
  ],
  [
    'tokens of OpenRouter that were both read from the cache and written to it',
    {
      ...{ prompt_tokens: 2168, completion_tokens: 5, total_tokens: 2173 },
      prompt_tokens_details: { cached_tokens: 2161, cache_write_tokens: 2161 },
    },
    { input: 2168, cached: 2161, written: 0, output: 5 },
  ],
])('the ledger and all clients say the same of %s, also in 200 kB', async (_name, usage, counts) => {
  for (const text of ['Hello', 'x'.repeat(200_000)])
    for (const stream of [false, true]) {
      say({ text, usage });
      const { told, record } = await ask('chat', 'messages', stream);
      expect(asTold(record.usage)).toMatchObject(counts);
      expect(told).toMatchObject(counts);
    }
});

test('a cache that is larger than its prompt is neither billed nor told', async () => {
  say({
    text: 'Hello',
    usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } },
  });
  for (const stream of [false, true]) {
    const { told, record } = await ask('chat', 'messages', stream);
    expect(asTold(record.usage)).toMatchObject({ input: 10, cached: 0, output: 5 });
    expect(record.usageCertainty).toBe('estimated');
    expect(told).toMatchObject({ input: 10, cached: 0, output: 5 });
  }
});

describe('is priced as the service prices it:', () => {
  test.each<[string, Api, Json, number]>([
    ['xAI’s reasoning', 'chat', grok, 0.023_285_6],
    [
      'an hour in Bedrock’s cache',
      'converse',
      {
        ...{ inputTokens: 100, cacheWriteInputTokens: 900, outputTokens: 10 },
        cacheDetails: [{ ttl: '1h', inputTokens: 900 }],
      },
      (100 + 900 * 4 + 100) / 1e6,
    ],
    [
      'an hour in Anthropic’s cache',
      'anthropic',
      {
        ...{ input_tokens: 100, cache_creation_input_tokens: 900, output_tokens: 10 },
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 900 },
      },
      (100 + 900 * 4 + 100) / 1e6,
    ],
  ])('%s', async (_name, api, usage, costUsd) => {
    say({ text: 'Hello', usage });
    for (const stream of [false, true]) {
      const { record } = await ask(api, 'messages', stream);
      expect(record.costUsd).toBeCloseTo(costUsd, 12);
      expect(record.usageCertainty).toBe('reported');
    }
  });
});

test('the input of a stream is told to Anthropic’s client at its end as at its start, if its provider tells only the output', async () => {
  say({ text: 'Hello', usage: { candidatesTokenCount: 5 } });
  const { events } = await ask('gemini', 'messages', true);
  const inputs = events
    .flatMap(({ message, usage }) => [(message as Json | undefined)?.usage, usage])
    .filter((usage) => usage !== undefined)
    .map((usage) => (usage as Json).input_tokens);
  expect(inputs).toEqual([inputs[0], inputs[0]]);
  expect(inputs[0]).toBeGreaterThan(0);
});
