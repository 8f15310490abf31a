/**
 * The ledger and the client have the same usage, which is the one that the upstream reported: of every API, for clients
 * of every API, whole and streamed, of short and long answers, and in the odd shapes that services give it.
 */
import { describe, expect, test } from 'vitest';
import {
  type Api,
  apis,
  ask,
  asTold,
  expectTold,
  ownClients,
  say,
  type Told,
  usageInSuite,
} from '../../support/usage-told.ts';
import type { Json } from '../apis/translation/translating.ts';

usageInSuite();

const openai = (input: string, output: string) => ({
  [`${input}_tokens`]: 1000,
  [`${input}_tokens_details`]: { cached_tokens: 300, cache_write_tokens: 200 },
  [`${output}_tokens`]: 500,
  [`${output}_tokens_details`]: { reasoning_tokens: 120 },
  total_tokens: 1500,
});
const claude = {
  input_tokens: 500,
  cache_read_input_tokens: 300,
  cache_creation_input_tokens: 200,
  cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
  output_tokens: 500,
  output_tokens_details: { thinking_tokens: 120 },
};
const gemini = {
  ...{ promptTokenCount: 1000, cachedContentTokenCount: 300, candidatesTokenCount: 380, thoughtsTokenCount: 120 },
  totalTokenCount: 1500,
};
const converse = {
  ...{ inputTokens: 500, cacheReadInputTokens: 300, cacheWriteInputTokens: 200, outputTokens: 500, totalTokens: 1500 },
  cacheDetails: [
    { ttl: '5m', inputTokens: 50 },
    { ttl: '1h', inputTokens: 150 },
  ],
};
const usages: Record<Api, Json> = {
  chat: openai('prompt', 'completion'),
  responses: openai('input', 'output'),
  anthropic: claude,
  gemini,
  converse,
  'invoke-model': claude,
  'vertex-claude': claude,
  'vertex-gemini': gemini,
};
const full: Required<Told> = { input: 1000, cached: 300, written: 200, forAnHour: 150, output: 500, reasoning: 120 };
const expected: Record<Api, Required<Told>> = {
  chat: { ...full, forAnHour: 0 },
  responses: { ...full, forAnHour: 0 },
  anthropic: full,
  gemini: { ...full, written: 0, forAnHour: 0 },
  converse: { ...full, reasoning: 0 },
  'invoke-model': full,
  'vertex-claude': full,
  'vertex-gemini': { ...full, written: 0, forAnHour: 0 },
};

const imitation = 'data: {"usage":{"prompt_tokens":777,"completion_tokens":777}}\n\n{"usageMetadata":{}} "usage":{} ';
const textOf = (bytes: number) => imitation + 'All work and no play, ünd so weiter. '.repeat(bytes / 37);

describe.each(apis)('what %s reports is in the ledger and told to every client', (api) => {
  test.each([
    ['of a short answer', 0, {}],
    ['of an answer of 20 kB', 20_000, {}],
    ['of an answer of 20 kB that begins with its usage', 20_000, { isUsageFirst: true }],
  ])('%s', async (_name, bytes, more) => {
    say({ text: textOf(bytes), usage: usages[api], ...more });
    await expectTold(api, expected[api]);
  });

  test('of an answer of 200 kB, and of one that arrives one byte a chunk', async () => {
    say({ text: textOf(200_000), usage: usages[api] });
    await expectTold(api, expected[api], ['messages', 'gemini']);
    say({ text: textOf(0), usage: usages[api], isInBytes: true });
    await expectTold(api, expected[api], ['messages']);
  });

  test('of an answer with its usage in the middle', async () => {
    const notes = { usage: { input_tokens: 777 }, text: textOf(40_000) };
    say({ text: textOf(20_000), usage: usages[api], after: { notes } });
    const { told, record } = await ask(api, 'messages', false);
    expect(asTold(record.usage)).toEqual(expected[api]);
    if (ownClients[api] !== 'messages') expect(told).toEqual(expected[api]);
  });
});
