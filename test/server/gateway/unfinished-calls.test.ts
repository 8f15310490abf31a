/**
 * A call that the answer's limit cut off is part of an answer, which is bought once and told as each API tells it. A call that
 * Gemini could not read is asked for once more, and both answers are booked.
 */
import type { GenerateContentResponse } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { eventStream, json, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;
type Api = 'chat' | 'messages' | 'responses' | 'gemini';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** What the upstream answers with, in order; the last one from then on. */
let answers: { whole: Json; events: readonly Json[] }[] = [];
let cuts: (length: number) => number[] = () => [];

beforeAll(async () => {
  upstream = await startUpstream(({ url, body }, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (!answer) throw new Error('nothing to say');
    const isStream = url.includes('stream') || JSON.parse(body.toString()).stream === true;
    if (!isStream) return json(response, answer.whole);
    const bytes = Buffer.from(answer.events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
    eventStream(response);
    return sendPieces(response, bytes, cuts(bytes.length));
  });
  const provider = (id: string, more: Json) => ({
    ...mainProvider(upstream.baseUrl, { models: [`${id}-model`], ...more }),
    id,
  });
  const ids = ['chat', 'messages', 'responses', 'gemini', 'backup'];
  const models = ['gemini-model', 'shared-model'];
  gateway = await startGateway({
    secrets: Object.fromEntries(ids.map((id) => [`provider/${id}/c1`, 'x'])),
    config: {
      providers: [
        provider('chat', { serves: ['chat'] }),
        provider('responses', { serves: ['responses'] }),
        provider('messages', { baseUrl: upstream.origin, dialect: 'anthropic' }),
        provider('gemini', { baseUrl: `${upstream.origin}/v1beta`, dialect: 'gemini', models }),
        provider('backup', { baseUrl: `${upstream.origin}/v1beta`, dialect: 'gemini', models: ['shared-model'] }),
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  cuts = () => [];
});

interface Told {
  text: string;
  /** Arguments as they were told. */
  calls: unknown[];
  stop: string;
}
type Read = (model: string, isStream: boolean) => Promise<Told>;

const parameters = { type: 'object' as const, properties: {} };

const clients: Record<Api, Read> = {
  chat: async (model, isStream) => {
    const asked = {
      model,
      messages: [{ role: 'user' as const, content: 'Hi' }],
      tools: [{ type: 'function' as const, function: { name: 'f', parameters } }],
    };
    const told: Told = { text: '', calls: [], stop: '' };
    if (!isStream) {
      const choice = (await gateway.client.chat.completions.create(asked)).choices[0];
      told.text = choice?.message.content ?? '';
      for (const call of choice?.message.tool_calls ?? []) {
        if (call.type === 'function') told.calls.push(call.function.arguments);
      }
      return { ...told, stop: choice?.finish_reason ?? '' };
    }
    for await (const { choices } of await gateway.client.chat.completions.create({ ...asked, stream: true })) {
      const [choice] = choices;
      told.text += choice?.delta.content ?? '';
      told.stop = choice?.finish_reason ?? told.stop;
      for (const { index, function: called } of choice?.delta.tool_calls ?? []) {
        told.calls[index] = `${told.calls[index] ?? ''}${called?.arguments ?? ''}`;
      }
    }
    return told;
  },
  messages: async (model, isStream) => {
    const asked = {
      model,
      max_tokens: 10,
      messages: [{ role: 'user' as const, content: 'Hi' }],
      tools: [{ name: 'f', input_schema: parameters }],
    };
    const { messages } = claudeAt(gateway);
    const message = isStream ? await messages.stream(asked).finalMessage() : await messages.create(asked);
    return {
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: message.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])),
      stop: message.stop_reason ?? '',
    };
  },
  responses: async (model, isStream) => {
    const asked = {
      model,
      input: 'Hi',
      tools: [{ type: 'function' as const, name: 'f', parameters, strict: false }],
    };
    const { responses } = gateway.client;
    const response = isStream ? await responses.stream(asked).finalResponse() : await responses.create(asked);
    for (const item of response.output) {
      if (item.type !== 'message' && item.type !== 'function_call') continue;
      const isLast = item === response.output.at(-1);
      expect([item.type, item.status]).toEqual([item.type, isLast ? response.status : 'completed']);
    }
    return {
      text: response.output_text,
      calls: response.output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : [])),
      stop: response.incomplete_details?.reason ?? response.status ?? '',
    };
  },
  gemini: async (model, isStream) => {
    const { models } = geminiAt(gateway);
    const asked = {
      model,
      contents: 'Hi',
      config: { tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }] },
    };
    const told: Told = { text: '', calls: [], stop: '' };
    const pieces: GenerateContentResponse[] = [];
    if (isStream) for await (const piece of await models.generateContentStream(asked)) pieces.push(piece);
    else pieces.push(await models.generateContent(asked));
    for (const { candidates } of pieces) {
      told.stop = candidates?.[0]?.finishReason ?? told.stop;
      for (const { text = '', functionCall } of candidates?.[0]?.content?.parts ?? []) {
        told.text += text;
        if (functionCall) told.calls.push(functionCall.args);
      }
    }
    return told;
  },
};
const all = Object.keys(clients) as Api[];
const ways = [true, false].flatMap((isStream) =>
  all.map((api) => [api, isStream ? 'streamed' : 'whole', isStream] as const),
);

/** How each API says that the limit has been met. */
const limits: Record<Api, string> = {
  chat: 'length',
  messages: 'max_tokens',
  responses: 'max_output_tokens',
  gemini: 'MAX_TOKENS',
};
/** Clients that are only told of whole calls. */
const wholeOnly = new Set<Api>(['messages', 'gemini']);

const chatAnswer = (content: string, callArguments: unknown, reason: string) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: callArguments } };
  const base = { id: 'c', created: 1, model: 'm' };
  return {
    whole: {
      ...{ ...base, object: 'chat.completion' },
      choices: [{ index: 0, message: { role: 'assistant', content, tool_calls: [call] }, finish_reason: reason }],
    },
    events: [
      { content },
      { tool_calls: [{ index: 0, ...call, function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: callArguments } }] },
      {},
    ].map((delta, at) => ({
      ...{ ...base, object: 'chat.completion.chunk' },
      choices: [{ index: 0, delta, finish_reason: at === 3 ? reason : null }],
    })),
  };
};
const responsesAnswer = (text: string, callArguments: string) => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: callArguments };
  const response = {
    ...{ id: 'resp_1', object: 'response', status: 'incomplete' },
    incomplete_details: { reason: 'max_output_tokens' },
    output: [message, { ...call, status: 'incomplete' }],
  };
  return {
    whole: response,
    events: [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: callArguments },
      { type: 'response.incomplete', response },
    ],
  };
};
const messagesAnswer = (text: string, input: string) => ({
  whole: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'max_tokens' },
    content: [{ type: 'text', text }],
  },
  events: [
    { type: 'message_start', message: { id: 'msg_1' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: input } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ],
});

describe('a call that the limit cut off is bought once', () => {
  const torn = '{"text":"lorem ip';
  const long = `{"text":"${'lorem ipsum '.repeat(17_000)}`;

  test.each(ways)('by a client of %s at a chat provider, %s', async (api, _way, isStream) => {
    for (const callArguments of [torn, long, '{']) {
      answers = [chatAnswer('I write. ', callArguments, 'length')];
      cuts = callArguments === torn ? (length) => Array.from({ length: length - 1 }, (_, at) => at + 1) : () => [];
      const told = await clients[api]('chat-model', isStream);
      expect(told).toMatchObject({ text: 'I write. ', stop: limits[api] });
      // A stream of Anthropic's API has begun the call by then, and its client completes what there is.
      if (!wholeOnly.has(api)) expect(told.calls).toEqual([callArguments]);
      else if (api === 'gemini' || !isStream) expect(told.calls).toEqual([]);
      expect(upstream.seen.splice(0)).toHaveLength(1);
    }
  });

  test.each(ways.filter(([api]) => api !== 'chat'))(
    'by a client of %s in other words, %s',
    async (api, _way, isStream) => {
      const limit = new Set([limits[api], 'model_context_window_exceeded']);
      const filter = new Set(['refusal', 'content_filter', 'SAFETY']);
      const words = {
        model_length: limit,
        max_tokens: limit,
        MAX_TOKENS: limit,
        content_filter: filter,
        sensitive: filter,
      };
      for (const [word, stops] of Object.entries(words)) {
        answers = [chatAnswer('I write. ', torn, word)];
        const { text, stop } = await clients[api]('chat-model', isStream);
        expect([word, text, stops.has(stop)]).toEqual([word, 'I write. ', true]);
        expect(upstream.seen.splice(0)).toHaveLength(1);
      }
    },
  );

  test.each(ways.filter(([api]) => api !== 'responses'))(
    'by a client of %s at a Responses provider, %s',
    async (api, _way, isStream) => {
      answers = [responsesAnswer('I write. ', torn)];
      const told = await clients[api]('responses-model', isStream);
      expect(told).toMatchObject({ text: 'I write. ', stop: limits[api] });
      expect(upstream.seen).toHaveLength(1);
    },
  );

  test.each(ways.filter(([api]) => api !== 'messages'))(
    'by a client of %s at Anthropic, %s',
    async (api, _way, isStream) => {
      answers = [messagesAnswer('I write. ', torn)];
      const told = await clients[api]('messages-model', isStream);
      expect(told).toMatchObject({ text: 'I write. ', stop: limits[api] });
      expect(upstream.seen).toHaveLength(1);
    },
  );
});

test.each(ways.filter(([api, , isStream]) => api !== 'messages' && isStream))(
  "blocks of Anthropic's API without an index keep their arguments, for a client of %s",
  async (api) => {
    const { whole, events } = messagesAnswer('I call. ', '{"a":1}');
    const unplaced = events.map((each): Json => ({ ...each, index: undefined }));
    const delta = { stop_reason: 'tool_use' };
    answers = [{ whole, events: unplaced.map((each) => (each.delta && each.usage ? { ...each, delta } : each)) }];
    const { text, calls } = await clients[api]('messages-model', true);
    expect([text, calls]).toEqual(['I call. ', [api === 'gemini' ? { a: 1 } : '{"a":1}']]);
  },
);

test.each(ways)('arguments of null are none, for a client of %s, %s', async (api, _way, isStream) => {
  for (const callArguments of ['null', ' null ', '', ' ', null]) {
    answers = [chatAnswer('I call. ', callArguments, 'tool_calls')];
    const { text, calls } = await clients[api]('chat-model', isStream);
    expect(text).toBe('I call. ');
    const inputs = calls.map((each) => (typeof each === 'string' && each.trim() !== '' ? JSON.parse(each) : each));
    expect(inputs).toHaveLength(1);
    if (api !== 'chat') expect(inputs).toEqual([{}]);
    expect(upstream.seen.splice(0)).toHaveLength(1);
  }
});

const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 7, totalTokenCount: 107 };
const geminiAnswer = (parts: Json[] | undefined, finishReason: string) => {
  const answer = {
    candidates: [{ content: parts && { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata,
  };
  const begun = { candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, index: 0 }], usageMetadata: {} };
  return { whole: answer, events: [begun, answer] };
};
const good = geminiAnswer([{ text: 'Hello' }], 'STOP');
const others = ways.filter(([api]) => api !== 'gemini');

describe.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])('%s without content', (reason) => {
  test.each(others)(
    'is asked for once more, and both are booked, for a client of %s, %s',
    async (api, _way, isStream) => {
      for (const parts of [undefined, [], [{ text: '' }]]) {
        answers = [geminiAnswer(parts, reason), good];
        expect((await clients[api]('gemini-model', isStream)).text).toBe('Hello');
        expect(upstream.seen.splice(0)).toHaveLength(2);
        const record = await newRecord();
        expect(record.attempts.map(({ usage }) => usage?.inputTokens)).toEqual([100, 100]);
        expect(record.usage).toMatchObject({ inputTokens: 200, outputTokens: 14 });
      }
    },
  );

  test.each(others)('a second time is an error, for a client of %s, %s', async (api, _way, isStream) => {
    answers = [geminiAnswer(undefined, reason)];
    await expect(clients[api]('gemini-model', isStream)).rejects.toThrow(/could not read/);
    expect(upstream.seen.splice(0)).toHaveLength(2);
    // It says nothing about the provider.
    answers = [good];
    expect((await clients[api]('gemini-model', isStream)).text).toBe('Hello');
  });

  test('passes to a client of Gemini as it came', async () => {
    answers = [geminiAnswer(undefined, reason)];
    for (const isStream of [true, false]) {
      expect((await clients.gemini('gemini-model', isStream)).stop).toBe(reason);
    }
    expect(upstream.seen).toHaveLength(2);
  });
});

test.each(others)(
  'MALFORMED_FUNCTION_CALL after content is not asked for again, for a client of %s, %s',
  async (api, _way, isStream) => {
    answers = [geminiAnswer([{ text: 'I call.' }], 'MALFORMED_FUNCTION_CALL')];
    await expect(clients[api]('gemini-model', isStream)).rejects.toThrow();
    expect(upstream.seen).toHaveLength(1);
  },
);

test.each(others)(
  'MALFORMED_FUNCTION_CALL after content is not bought from another provider, for a client of %s, %s',
  async (api, _way, isStream) => {
    answers = [geminiAnswer([{ text: 'I call.' }], 'MALFORMED_FUNCTION_CALL'), good];
    await expect(clients[api]('shared-model', isStream)).rejects.toThrow();
    expect(upstream.seen).toHaveLength(1);
  },
);

const known = new Set<string>();

/** Of a request with two attempts that has not been looked at. */
const newRecord = () =>
  eventually(async () => {
    const record = await gateway.record();
    if (record.attempts.length !== 2 || record.outcome !== 'ok' || known.has(record.id)) return null;
    known.add(record.id);
    return record;
  });

const filtered: Partial<Record<Api, string>> = {
  chat: 'content_filter',
  messages: 'refusal',
  responses: 'content_filter',
};

describe.each(['OTHER', 'MODEL_ARMOR', 'SAFETY', 'SOMETHING_NEW'])('%s without content', (reason) => {
  test.each(others)('is no clean end, for a client of %s, %s', async (api, _way, isStream) => {
    answers = [geminiAnswer(undefined, reason)];
    expect(await clients[api]('gemini-model', isStream)).toEqual({ text: '', calls: [], stop: filtered[api] });
    expect(upstream.seen).toHaveLength(1);
  });
});

test.each(others)('an unknown reason after content is an end, for a client of %s, %s', async (api, _way, isStream) => {
  answers = [geminiAnswer([{ text: 'Hello' }], 'OTHER')];
  const ends: Partial<Record<Api, string>> = { chat: 'stop', messages: 'end_turn', responses: 'completed' };
  expect(await clients[api]('gemini-model', isStream)).toMatchObject({ text: 'Hello', stop: ends[api] });
});
