/**
 * The ledger has what the client is told: recorded usage of every API, and usage made up, in front of clients of every API,
 * whole and streamed, from one byte a chunk to answers of 200 kB, and at the odd places where services put it.
 */
import { describe, expect, test } from 'vitest';
import { messagesReports } from '../../../server/apis/anthropic/messages.ts';
import { converseReports } from '../../../server/apis/bedrock/converse.ts';
import { reportedUsage, StreamedUsage, type UsageReports } from '../../../server/apis/core/usage/reported-usage.ts';
import { geminiReports } from '../../../server/apis/gemini/usage.ts';
import { plainReports, responseReports } from '../../../server/apis/openai/usage/usage-shapes.ts';
import { ResponseExcerpt } from '../../../server/exchange/record/response-taps.ts';
import { pick, randomNumbers } from '../../support/random-numbers.ts';
import {
  type Api,
  apis,
  ask,
  asTold,
  clientNames,
  ownClients,
  say,
  type Told,
  usageInSuite,
} from '../../support/usage-told.ts';
import { type Said, usageUpstreams } from '../../support/usage-upstreams.ts';
import type { Json } from '../apis/translation/translating.ts';

/**
 * The usage objects of real answers, by API, as documents of the services and reports of their users show them, and what
 * is billed for each.
 */

interface RecordedUsage {
  /** Who writes such usage. */
  of: string;
  usage: Json;
  counts: Told;
}

const told = (input: number, output: number, more: Partial<Told> = {}): Told => ({
  ...{ input, cached: 0, output, reasoning: 0 },
  ...more,
});

const chat: readonly RecordedUsage[] = [
  {
    of: 'OpenAI (API reference, "Create chat completion")',
    usage: {
      ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        ...{ reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      },
    },
    counts: told(19, 10),
  },
  {
    of: 'OpenRouter ("Usage accounting")',
    usage: {
      ...{ prompt_tokens: 194, completion_tokens: 32, total_tokens: 226, cost: 0.95, is_byok: false },
      prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 100, audio_tokens: 0, video_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 12, image_tokens: 0 },
      cost_details: { upstream_inference_cost: null },
    },
    counts: told(194, 32, { cached: 64, written: 100, reasoning: 12 }),
  },
  {
    of: 'DeepSeek ("Create chat completion")',
    usage: {
      ...{ prompt_tokens: 1000, completion_tokens: 30, total_tokens: 1030 },
      ...{ prompt_cache_hit_tokens: 896, prompt_cache_miss_tokens: 104 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    counts: told(1000, 30, { cached: 896, reasoning: 20 }),
  },
  {
    of: 'Groq ("Prompt caching")',
    usage: {
      ...{ queue_time: 0.02, prompt_tokens: 4641, prompt_time: 0.009, completion_tokens: 1817, completion_time: 5.57 },
      ...{ total_tokens: 6458, total_time: 5.58, prompt_tokens_details: { cached_tokens: 4608 } },
    },
    counts: told(4641, 1817, { cached: 4608 }),
  },
  {
    of: 'xAI (Wei-Shaw/sub2api#5771)',
    usage: {
      ...{ prompt_tokens: 10120, completion_tokens: 1499, total_tokens: 14428, num_sources_used: 0 },
      prompt_tokens_details: { text_tokens: 10120, audio_tokens: 0, image_tokens: 0, cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809, audio_tokens: 0 },
    },
    counts: told(10120, 4308, { cached: 128, reasoning: 2809 }),
  },
  {
    of: 'Moonshot ("Chat")',
    usage: { prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, cached_tokens: 10 },
    counts: told(19, 21, { cached: 10 }),
  },
  {
    of: 'vLLM',
    usage: { prompt_tokens: 40, total_tokens: 47, completion_tokens: 7, prompt_tokens_details: null },
    counts: told(40, 7),
  },
  {
    of: 'LiteLLM in front of Claude',
    usage: {
      ...{ prompt_tokens: 1300, completion_tokens: 10, total_tokens: 1310 },
      ...{ cache_creation_input_tokens: 200, cache_read_input_tokens: 1000 },
      prompt_tokens_details: { cached_tokens: 1000 },
    },
    counts: told(1300, 10, { cached: 1000, written: 200 }),
  },
];

const responses: readonly RecordedUsage[] = [
  {
    of: 'OpenAI (API reference, "Create a model response")',
    usage: {
      ...{ input_tokens: 328, input_tokens_details: { cached_tokens: 256 } },
      ...{ output_tokens: 52, output_tokens_details: { reasoning_tokens: 40 }, total_tokens: 380 },
    },
    counts: told(328, 52, { cached: 256, reasoning: 40 }),
  },
  {
    of: 'LM Studio and others, without details',
    usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
    counts: told(12, 5),
  },
  {
    of: 'gateways that keep the names of a chat',
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, prompt_tokens_details: { cached_tokens: 4 } },
    counts: told(12, 5, { cached: 4 }),
  },
];

const anthropic: readonly RecordedUsage[] = [
  {
    of: 'Anthropic ("Prompt caching")',
    usage: {
      ...{ input_tokens: 2048, cache_read_input_tokens: 1800, cache_creation_input_tokens: 248, output_tokens: 503 },
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      ...{ server_tool_use: { web_search_requests: 1 }, service_tier: 'standard' },
    },
    counts: told(4096, 503, { cached: 1800, written: 248, forAnHour: 100 }),
  },
  {
    of: 'Anthropic with thinking',
    usage: {
      ...{ input_tokens: 9, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 300 },
      ...{ output_tokens_details: { thinking_tokens: 250 }, service_tier: 'priority' },
    },
    counts: told(9, 300, { written: 0, forAnHour: 0, reasoning: 250 }),
  },
];

const gemini: readonly RecordedUsage[] = [
  {
    of: 'Google ("Thinking")',
    usage: {
      ...{ promptTokenCount: 10, candidatesTokenCount: 220, thoughtsTokenCount: 780, totalTokenCount: 1010 },
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    },
    counts: told(10, 1000, { reasoning: 780 }),
  },
  {
    of: 'Google ("Context caching")',
    usage: {
      ...{ promptTokenCount: 696219, cachedContentTokenCount: 696190, candidatesTokenCount: 214 },
      ...{ totalTokenCount: 696433, cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 696190 }] },
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 696190 },
        { modality: 'TEXT', tokenCount: 29 },
      ],
    },
    counts: told(696219, 214, { cached: 696190 }),
  },
  {
    of: 'Vertex AI, with a tool of its own',
    usage: {
      ...{ promptTokenCount: 50, toolUsePromptTokenCount: 100, candidatesTokenCount: 30, totalTokenCount: 180 },
      ...{ trafficType: 'ON_DEMAND', toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }] },
    },
    counts: told(150, 30),
  },
];

const converse: readonly RecordedUsage[] = [
  {
    of: 'AWS ("Converse")',
    usage: {
      ...{ inputTokens: 30, outputTokens: 628, totalTokens: 758, serverToolUsage: {} },
      ...{ cacheReadInputTokens: 70, cacheWriteInputTokens: 30, cacheDetails: [{ ttl: '1h', inputTokens: 30 }] },
    },
    counts: told(130, 628, { cached: 70, written: 30, forAnHour: 30 }),
  },
  {
    of: 'AWS, without a cache',
    usage: { inputTokens: 30, outputTokens: 628, totalTokens: 658 },
    counts: told(30, 628),
  },
];

const recordedUsages: Record<Api, readonly RecordedUsage[]> = {
  chat,
  responses,
  anthropic,
  gemini,
  converse,
  'invoke-model': anthropic,
  'vertex-claude': anthropic,
  'vertex-gemini': gemini,
};

usageInSuite();

type Ways = readonly (typeof clientNames)[number][];

/** Asks with these clients, whole and streamed, and compares what they are told with their rows of the ledger. */
async function expectAgreement(api: Api, said: Said, counts: object | null, names: Ways = clientNames): Promise<void> {
  say(said);
  const ways = [false, true].flatMap((stream) => names.map((name) => ({ name, stream })));
  await Promise.all(
    ways.map(async ({ name, stream }) => {
      const { told, record } = await ask(api, name, stream);
      const what = `${name} in front of ${api}, ${stream ? 'streamed' : 'whole'}: ${JSON.stringify(said.usage)}`;
      const ledger = asTold(record.usage);
      expect(record.usageCertainty, what).toBe('reported');
      if (counts) expect(ledger, what).toMatchObject(counts);
      // A client of the upstream's own API gets its bytes, in which services count as they like.
      if (name !== ownClients[api]) expect(ledger, what).toMatchObject(told ?? { nothing: 'told' });
    }),
  );
}

const imitation = 'data: {"usage":{"prompt_tokens":777,"completion_tokens":777}}\n\n{"usageMetadata":{}} "usage":{} ';
const textOf = (bytes: number) => imitation + 'All work and no play, ünd so weiter. '.repeat(bytes / 37);

describe.each(apis)('of %s, the ledger has what clients are told:', (api) => {
  test.each(recordedUsages[api].map((each) => [each.of, each] as const))(
    'usage of %s',
    async (_of, { usage, counts }) => {
      await expectAgreement(api, { text: 'Hello', usage }, counts);
    },
  );

  test.each([20_000, 200_000])('in an answer of %i bytes', async (bytes) => {
    const [recorded] = recordedUsages[api];
    await expectAgreement(api, { text: textOf(bytes), usage: recorded?.usage ?? {} }, recorded?.counts ?? null);
  });

  test('in an answer of one byte a chunk', async () => {
    const [recorded] = recordedUsages[api];
    const said = { text: 'Hello', usage: recorded?.usage ?? {}, isInBytes: true };
    await expectAgreement(api, said, recorded?.counts ?? null, ['messages', 'gemini']);
  });
});

/** Usage with any counts, as numbers or texts, of which some are null or missing. */
function madeUp(random: () => number): Record<'openai' | 'claude' | 'gemini' | 'converse', Json> {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const written = (count: number) => (random() < 0.2 ? String(count) : count);
  const perhaps = (name: string, count: number): Json =>
    pick([{ [name]: written(count) }, { [name]: written(count) }, {}, { [name]: null }], random);
  const [input, output] = [1 + upTo(50_000), 1 + upTo(5_000)];
  const cached = upTo(input - 1);
  const cacheWritten = upTo(input - cached);
  const forAnHour = upTo(cacheWritten);
  const thoughts = upTo(output);
  return {
    openai: pick(
      [
        {
          ...{ prompt_tokens: written(input), completion_tokens: written(output), total_tokens: input + output },
          prompt_tokens_details: {
            ...perhaps('cached_tokens', cached),
            ...perhaps('cache_write_tokens', cacheWritten),
          },
          completion_tokens_details: pick([null, perhaps('reasoning_tokens', thoughts)], random),
        },
        {
          ...{ input_tokens: written(input), output_tokens: written(output) },
          [pick(['input_tokens_details', 'input_token_details'], random)]: perhaps('cached_tokens', cached),
          output_tokens_details: perhaps('reasoning_tokens', thoughts),
        },
      ],
      random,
    ),
    claude: {
      ...{ input_tokens: written(input), output_tokens: written(output) },
      ...perhaps('cache_read_input_tokens', cached),
      cache_creation_input_tokens: written(cacheWritten),
      cache_creation: { ephemeral_5m_input_tokens: cacheWritten - forAnHour, ephemeral_1h_input_tokens: forAnHour },
      output_tokens_details: pick([null, perhaps('thinking_tokens', thoughts)], random),
    },
    gemini: {
      ...{ promptTokenCount: written(input), candidatesTokenCount: written(output) },
      ...perhaps('cachedContentTokenCount', cached),
      ...perhaps('thoughtsTokenCount', thoughts),
      ...perhaps('toolUsePromptTokenCount', upTo(100)),
    },
    converse: {
      ...{ inputTokens: written(input), outputTokens: written(output) },
      ...perhaps('cacheReadInputTokens', cached),
      cacheWriteInputTokens: written(cacheWritten),
      cacheDetails: [{ ttl: '1h', inputTokens: forAnHour }],
    },
  };
}

const kindOf: Record<Api, keyof ReturnType<typeof madeUp>> = {
  ...{ chat: 'openai', responses: 'openai', anthropic: 'claude', gemini: 'gemini', converse: 'converse' },
  ...{ 'invoke-model': 'claude', 'vertex-claude': 'claude', 'vertex-gemini': 'gemini' },
};

const seeds = [1, Date.now() % 1_000_000];

test.each(seeds)('usage made up from the seed %i', async (seed) => {
  const random = randomNumbers(seed);
  for (let round = 0; round < 3; round += 1) {
    for (const api of apis) {
      const usage = madeUp(random)[kindOf[api]];
      await expectAgreement(api, { text: textOf(Math.floor(random() * 12_000)), usage }, null);
    }
  }
});

describe('at odd places of a chat’s stream,', () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
  const counts = { input: 1000, output: 50 };
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const choice = { index: 0, delta: {}, finish_reason: null };

  test.each<[string, Json]>([
    ['Groq’s', { ...chunk, choices: [], x_groq: { id: 'r', usage } }],
    ['Moonshot’s', { ...chunk, choices: [{ ...choice, usage }] }],
    ['beside a last choice', { ...chunk, choices: [choice], usage }],
    ['without choices at all', { ...chunk, usage }],
  ])('%s', async (_name, usageChunk) => {
    for (const bytes of [0, 20_000]) await expectAgreement('chat', { text: textOf(bytes), usage, usageChunk }, counts);
  });

  test('and not after its end', async () => {
    const after = { ...chunk, choices: [], usage: { prompt_tokens: 777, completion_tokens: 777 } };
    await expectAgreement('chat', { text: 'Hello', usage, afterEnd: after }, counts);
  });
});

test('the last event of a stream of Gemini may leave out the prompt', async () => {
  const usage = { promptTokenCount: undefined, candidatesTokenCount: 7, thoughtsTokenCount: 3 };
  for (const bytes of [0, 20_000, 200_000]) {
    say({ text: textOf(bytes), usage, promptTokens: 1000 });
    for (const name of ['messages', 'chat', 'responses'] as const) {
      const { told, record } = await ask('gemini', name, true);
      expect(asTold(record.usage), name).toMatchObject({ input: 1000, output: 10, reasoning: 3 });
      expect(asTold(record.usage), name).toMatchObject(told ?? { nothing: 'told' });
    }
  }
});

test.each([4_000, 9_000, 40_000])('a stream of Claude may say %i bytes before its usage', async (note) => {
  const usage = { input_tokens: 1000, cache_read_input_tokens: 200, output_tokens: 50 };
  for (const bytes of [0, 20_000]) {
    const said = { text: textOf(bytes), usage, startNote: 'x'.repeat(note) };
    await expectAgreement('anthropic', said, { input: 1200, cached: 200, output: 50 });
  }
});

describe('from one byte a chunk to 200 kB, what is kept of a stream tells as much as all of it:', () => {
  const reports: Record<Api, UsageReports> = {
    ...{ chat: plainReports, responses: responseReports, anthropic: messagesReports, gemini: geminiReports },
    ...{ converse: converseReports, 'invoke-model': messagesReports, 'vertex-claude': messagesReports },
    'vertex-gemini': geminiReports,
  };
  const sent = apis.filter((api) => usageUpstreams[api].streamType === 'text/event-stream');

  test.each(sent)('%s', (api) => {
    for (const [index, { usage }] of recordedUsages[api].entries()) {
      for (const bytes of index === 0 ? [0, 5_000, 200_000] : [0]) {
        const stream = usageUpstreams[api].stream({ text: textOf(bytes), usage });
        const streamed = new StreamedUsage(reports[api]);
        const lines = stream.toString().split('\n');
        const datas = lines
          .filter((line) => line.startsWith('data: {'))
          .map((line) => JSON.parse(line.slice(6)) as Json);
        const told = datas.map((event) => streamed.push(event)).findLast((each) => each !== null);
        for (const chunkBytes of [1, 7, 1_460, stream.length]) {
          const excerpt = new ResponseExcerpt();
          for (let at = 0; at < stream.length; at += chunkBytes) excerpt.push(stream.subarray(at, at + chunkBytes));
          expect(reportedUsage(excerpt.kept('text/event-stream'), reports[api]), `${bytes}, ${chunkBytes}`).toEqual(
            told,
          );
        }
      }
    }
  });
});
