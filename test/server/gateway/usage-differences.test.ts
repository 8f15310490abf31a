/**
 * The ledger has what the client is told: recorded usage of every API, and usage made up, in front of clients of every API,
 * whole and streamed, from one byte a chunk to answers of 200 kB, and at the odd places where services put it.
 */
import { describe, expect, test } from 'vitest';
import { messagesReports } from '../../../server/apis/anthropic/usage.ts';
import { converseReports } from '../../../server/apis/bedrock/usage.ts';
import { reportedUsage, StreamedUsage, type UsageReports } from '../../../server/apis/core/usage/reported-usage.ts';
import { geminiReports } from '../../../server/apis/gemini/usage.ts';
import { plainReports, responseReports } from '../../../server/apis/openai/usage/usage-shapes.ts';
import { ResponseExcerpt } from '../../../server/exchange/record/response-excerpt.ts';
import { pick, randomNumbers } from '../../support/random-numbers.ts';
import { recordedUsages } from '../../support/recorded-usages.ts';
import { type Api, apis, ask, asTold, clientNames, ownClients, say, usageInSuite } from '../../support/usage-told.ts';
import { type Said, usageUpstreams } from '../../support/usage-upstreams.ts';
import type { Json } from '../apis/translation/translating.ts';

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

const seeds = [1, 2, 3, Date.now() % 1_000_000];

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
