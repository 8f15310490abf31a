import { describe, expect, test } from 'vitest';
import { anthropicErrorStatus, writeAnthropicError } from '../../../../server/apis/anthropic/messages.ts';
import { readError } from '../../../../server/apis/core/errors/error-body.ts';
import { tellErrorWithin } from '../../../../server/apis/core/errors/verdict.ts';
import { errorIn } from '../../../../server/apis/core/upstream-error.ts';
import { writeGeminiError } from '../../../../server/apis/gemini/write-error.ts';
import { estimateInputTokens } from '../../../../server/apis/translation/translator.ts';
import {
  answered,
  chat,
  chatToClaude,
  chatToGemini,
  claude,
  claudeToChat,
  claudeToResponses,
  dataOf,
  everySplit,
  type Json,
  moment,
  sent,
  streamed,
  streamOf,
  translate,
  translatorOf,
  user,
  type Way,
} from './translating.ts';

const responsesToChat: Way = { from: 'openai-responses', to: 'openai-chat', model: 'llama-3.3-70b' };

describe('streams', () => {
  const chunk = (delta: Json, finish: string | null = null) => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const piece = (parts: Json[], more: Json = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const inputTokens = (text: string) => {
    const request = translate(claudeToChat, { ...claude({ role: 'user', content: text }), stream: true });
    const [start] = dataOf(streamed(request, [streamOf([chunk({ content: 'x' })], false)])) as [
      { message: { usage: Json } },
    ];
    return Number(start.message.usage.input_tokens);
  };

  test('Traps 34 and 35: the first event tells of the input, and of more for more (sglang#20678)', () => {
    expect(inputTokens('x')).toBeGreaterThan(0);
    expect(inputTokens('x'.repeat(3000))).toBeGreaterThan(inputTokens('x') + 700);
  });

  test('Trap 36: usage that comes after the reason is read (claude-code-router#1422)', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const stream = streamOf([chunk({ content: 'x' }), chunk({}, 'stop'), { choices: [], usage }, '[DONE]'], false);
    const told = dataOf(streamed(translate(claudeToChat, claude()), [stream])) as Json[];
    expect(told.at(-2)?.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  test('Trap 37: a response that failed is no end_turn, and tells of its context in words that are known (claudex#10)', () => {
    const error = {
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 100 tokens. However, your messages resulted in 200 tokens.",
    };
    const told = streamed(translate(claudeToResponses, claude()), [
      streamOf([{ type: 'response.failed', response: { error } }], true),
    ]);
    expect(dataOf(told)).toEqual([
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 200 tokens > 100 maximum' },
      },
    ]);
  });

  test('Trap 38: a piece of bytes is no event: it is all the same where they are cut (litellm#30224)', () => {
    const stream = streamOf([chunk({ content: 'Grüße' }), chunk({}, 'stop'), '[DONE]'], false);
    const request = translate(claudeToChat, claude());
    const whole = streamed(request, [stream]);
    for (const pieces of everySplit(stream)) expect(streamed(request, pieces)).toBe(whole);
  });

  test('Trap 39: a Gemini that ends without a reason has not ended (freellmapi#1288)', () => {
    const told = streamed(translate(chatToGemini, chat()), [streamOf([piece([{ text: 'So' }])], false)]);
    expect(told).toContain('So');
    expect(told).not.toContain('[DONE]');
  });

  test('Trap 40: but for one that has thought alone, and counted it (CLIProxyAPI#5226)', () => {
    const usageMetadata = { promptTokenCount: 5, thoughtsTokenCount: 9 };
    const stream = streamOf([piece([{ text: 'Hm.', thought: true }]), { usageMetadata }], false);
    expect(streamed(translate(chatToGemini, chat()), [stream])).toContain('[DONE]');
  });

  test('Trap 41: an older Gemini says STOP in each chunk, and goes on (one-api#1477)', () => {
    const stop = { finishReason: 'STOP' };
    const stream = streamOf([piece([{ text: 'So ' }], stop), piece([{ text: 'it is.' }], stop)], false);
    const told = dataOf(streamed(translate(chatToGemini, chat()), [stream])) as Json[];
    const said = told.flatMap(({ choices }) => (choices as { delta: Json }[] | undefined) ?? []);
    expect(said.map(({ delta }) => delta.content ?? '').join('')).toBe('So it is.');
    expect(told.at(-1)).toBe('[DONE]');
  });

  test('Trap 42: an error that comes first is an error, and no empty answer (gemini-balance#347)', () => {
    const error = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' };
    const told = dataOf(streamed(translate(chatToGemini, chat()), [streamOf([{ error }], false)]));
    expect(told).toEqual([
      { error: { message: 'Overloaded', type: 'server_error', param: null, code: 'server_overloaded' } },
    ]);
  });

  test('Trap 43: a whole answer to the verb of streams becomes a stream (nyro#182)', () => {
    const whole = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] };
    const told = translate(chatToGemini, { ...chat(), stream: true }).wholeAsEvents(
      Buffer.from(JSON.stringify(whole)),
      moment,
    );
    expect(dataOf(told?.toString() ?? '').at(-1)).toBe('[DONE]');
  });

  test('Trap 44: a ping breaks nothing (vercel/ai#383)', () => {
    const told = translate(chatToClaude, chat())
      .events(moment)
      .push({ name: 'ping', data: '{}', value: { type: 'ping' } });
    expect(told).toHaveLength(0);
  });
});

describe('counts, tools and bodies', () => {
  test('Trap 50: a count has system and tools in it, and errs upward (copilot-api#134)', () => {
    const translator = translatorOf('anthropic-messages', 'openai-chat');
    const read = (more: Json) => translator.read(Buffer.from(JSON.stringify({ ...claude(), ...more }))).conversation;
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
    const plain = estimateInputTokens(read({}));
    // 1,001 tokens by OpenAI's o200k.
    expect(estimateInputTokens(read({ system: text })) - plain).toBeGreaterThan(1001);
    const tools = [{ name: 'read', description: text, input_schema: { type: 'object' } }];
    expect(estimateInputTokens(read({ tools })) - plain).toBeGreaterThan(1001);
  });

  test('Trap 54: apply_patch comes back as a custom tool’s call (CLIProxyAPI#5753)', () => {
    const asked = { model: 'm', input: 'x', tools: [{ type: 'custom', name: 'apply_patch' }] };
    const message = {
      tool_calls: [{ id: 'a', function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } }],
    };
    const answer = translate(responsesToChat, asked).whole(
      Buffer.from(JSON.stringify({ choices: [{ message }] })),
      moment,
    );
    expect(answer?.ok && JSON.parse(answer.body.toString()).output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
    ]);
  });

  test('Trap 55: a body of Responses on the path of chats is understood, and answered as a chat (codex-lb#833)', () => {
    const asked = {
      model: 'm',
      input: [user],
      instructions: 'Be brief.',
      stream: true,
      stream_options: { include_usage: true },
    };
    const request = translate(chatToClaude, asked);
    expect(JSON.parse(request.body.toString())).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [{ role: 'user' }],
    });
    expect(
      streamed(request, [streamOf([{ type: 'message_start', message: {} }, { type: 'message_stop' }], true)]),
    ).toContain('chat.completion.chunk');
  });
});

describe('an error', () => {
  test.each<[unknown, string, string, number]>([
    [
      { error: { message: 'No key', type: 'invalid_request_error', code: 'invalid_api_key' } },
      'authentication_error',
      'INVALID_ARGUMENT',
      401,
    ],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }, 'overloaded_error', 'UNAVAILABLE', 529],
    [
      { error: { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED' } },
      'rate_limit_error',
      'RESOURCE_EXHAUSTED',
      429,
    ],
    [
      [{ error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } }],
      'invalid_request_error',
      'INVALID_ARGUMENT',
      400,
    ],
    [
      { error: { message: 'Gone', type: 'invalid_request_error', code: 'model_not_found' } },
      'not_found_error',
      'NOT_FOUND',
      404,
    ],
    [
      { error: { message: 'Spent', type: 'insufficient_quota', code: 'insufficient_quota' } },
      'billing_error',
      'RESOURCE_EXHAUSTED',
      402,
    ],
    [{ error: { message: 'Odd', type: 'constructor', code: 'constructor' } }, 'api_error', 'INTERNAL', 502],
    [null, 'api_error', 'INTERNAL', 502],
  ])('%j is told in the words of each API', (body, anthropic, google, status) => {
    const error = tellErrorWithin(errorIn(body));
    expect(JSON.parse(writeAnthropicError(error))).toMatchObject({ type: 'error', error: { type: anthropic } });
    expect(JSON.parse(writeGeminiError(error))).toMatchObject({ error: { status: google } });
    expect(anthropicErrorStatus(error)).toBe(status);
  });

  test.each([
    'prompt is too long: 200 tokens > 100 maximum',
    'input length and `max_tokens` exceed context limit: 150 + 50 > 100',
    'The input token count (200) exceeds the maximum number of tokens allowed (100).',
    "This model's maximum context length is 100 tokens. However, you requested 200 tokens (150 in the messages).",
  ])('of a context that is too long keeps both numbers: %s', (message) => {
    const error = tellErrorWithin(errorIn({ error: { message, type: 'invalid_request_error' } }));
    expect(error.code).toBe('context_length_exceeded');
    expect(writeAnthropicError(error)).toContain('prompt is too long: 200 tokens > 100 maximum');
    expect(writeGeminiError(error)).toContain(
      'input token count (200) exceeds the maximum number of tokens allowed (100)',
    );
  });

  test.each<[Way['from'], Way['to'], number, unknown, number, Json]>([
    [
      'openai-chat',
      'anthropic-messages',
      529,
      { error: { type: 'overloaded_error', message: 'Busy' } },
      503,
      { error: { code: 'server_overloaded' } },
    ],
    [
      'anthropic-messages',
      'openai-chat',
      503,
      { error: { message: 'Busy' } },
      503,
      { type: 'error', error: { type: 'api_error' } },
    ],
    [
      'anthropic-messages',
      'gemini-generate',
      503,
      { error: { status: 'UNAVAILABLE', message: 'Busy' } },
      529,
      { error: { type: 'overloaded_error' } },
    ],
    [
      'openai-responses',
      'gemini-generate',
      400,
      { error: { status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' } },
      401,
      { error: { code: 'invalid_api_key' } },
    ],
    [
      'gemini-generate',
      'openai-chat',
      401,
      { error: { code: 'invalid_api_key', message: 'No' } },
      400,
      { error: { status: 'INVALID_ARGUMENT', code: 400 } },
    ],
    ['gemini-generate', 'openai-chat', 500, '<html>', 500, { error: { status: 'INTERNAL', code: 500 } }],
  ])(
    'for a client of %s of %s with %i becomes one of its own API',
    (from, to, status, body, expectedStatus, expected) => {
      const told = translatorOf(from, to).error({ status, ...readError(Buffer.from(JSON.stringify(body))) });
      expect(told.status).toBe(expectedStatus);
      expect(JSON.parse(told.body.toString())).toMatchObject(expected);
    },
  );

  test('that speaks of other numbers stays as it is', () => {
    const said = { message: 'max_tokens: 9000 > 4096 allowed', type: 'invalid_request_error' };
    const error = tellErrorWithin(errorIn({ error: said }));
    expect(writeAnthropicError(error)).toContain('max_tokens: 9000');
  });
});

describe('input of a call that no call has begun', () => {
  const begun = (index: number, name: string) => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
  });
  const input = (index: number) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
  });
  const ends = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];
  const start = { type: 'message_start', message: {} };
  const converse = (blocks: Json[]) => [
    { messageStart: { role: 'assistant' } },
    ...blocks,
    { messageStop: { stopReason: 'tool_use' } },
  ];
  const toolDelta = { contentBlockDelta: { contentBlockIndex: 3, delta: { toolUse: { input: '{"a":1}' } } } };
  const toolStart = (name: string) => ({
    contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name } } },
  });
  const chatToConverse: Way = { from: 'openai-chat', to: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' };

  test.each<[string, Way, Json[]]>([
    ['Anthropic', chatToClaude, [start, begun(0, 'read'), input(3), ...ends]],
    ['Converse', chatToConverse, converse([toolStart('read'), toolDelta])],
  ])('is that of the call that is open: %s', (_name, way, events) => {
    const told = streamed(translate(way, chat()), [streamOf(events, false)]);
    const chunks = dataOf(told).filter((each) => each !== '[DONE]') as {
      choices?: [{ delta: { tool_calls?: Json[] } }];
    }[];
    const calls = chunks.flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? []);
    expect(calls.map((call) => (call.function as Json).arguments).join('')).toBe('{"a":1}');
  });

  test.each<[string, Way, Json[]]>([
    ['Anthropic', chatToClaude, [start, input(3), ...ends]],
    ['Anthropic, without a name', chatToClaude, [start, begun(0, ''), input(0), ...ends]],
    ['Converse', chatToConverse, converse([toolDelta])],
    ['Converse, without a name', chatToConverse, converse([toolStart(''), toolDelta])],
    [
      'Gemini, without a name',
      chatToGemini,
      [{ candidates: [{ content: { parts: [{ functionCall: { args: { a: 1 } } }] }, finishReason: 'STOP' }] }],
    ],
  ])('is an error if there is none: %s', (_name, way, events) => {
    expect(streamed(translate(way, chat()), [streamOf(events, false)])).toContain('could not read');
  });

  test.each<[string, Way, Json[]]>([
    ['Anthropic', chatToClaude, [start, begun(0, ''), ...ends]],
    ['Converse', chatToConverse, converse([toolStart('')])],
    [
      'Gemini',
      chatToGemini,
      [{ candidates: [{ content: { parts: [{ functionCall: { name: '', args: {} } }] }, finishReason: 'STOP' }] }],
    ],
  ])('and of a call without name and input nothing is told: %s', (_name, way, events) => {
    const told = streamed(translate(way, chat()), [streamOf(events, false)]);
    expect(told).not.toContain('tool_calls');
    expect(told).toContain('"finish_reason":"stop"');
  });

  test('of a tool that the provider runs is not the client’s', () => {
    const server = { ...begun(1, 'web_search'), content_block: { type: 'server_tool_use', name: 'web_search' } };
    const told = streamed(translate(chatToClaude, chat()), [streamOf([start, server, input(1), ...ends], false)]);
    expect(told).not.toContain('tool_calls');
  });
});

describe('a call that the client did not offer', () => {
  const query = 'SELECT * FROM "t"\nWHERE a = \'\\\'';
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'sql', input: query };
  const completed = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [item] } };
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    ...(query.match(/.{1,3}/gs) ?? []).map((delta) => ({
      type: 'response.custom_tool_call_input.delta',
      output_index: 0,
      item_id: 'ctc_1',
      delta,
    })),
    { type: 'response.output_item.done', output_index: 0, item },
    completed,
  ];
  const geminiToResponses: Way = { from: 'gemini-generate', to: 'openai-responses', model: 'gpt-5.4' };
  const asked = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

  test('with free text is JSON for clients that know no other input', () => {
    const told = streamed(translate(claudeToResponses, claude()), [streamOf(events, true)]);
    const deltas = (dataOf(told) as { delta?: { partial_json?: string } }[]).map(({ delta }) => delta?.partial_json);
    expect(JSON.parse(deltas.join(''))).toEqual({ input: query });
    const whole = { id: 'resp_1', status: 'completed', output: [item] };
    expect(answered(translate(claudeToResponses, claude()), whole)).toMatchObject({
      content: [{ type: 'tool_use', name: 'sql', input: { input: query } }],
      stop_reason: 'tool_use',
    });
    const parts = [{ functionCall: { name: 'sql', args: { input: query } } }];
    expect(answered(translate(geminiToResponses, asked), whole)).toMatchObject({
      candidates: [{ content: { parts } }],
    });
    const chunks = dataOf(streamed(translate(geminiToResponses, asked), [streamOf(events, true)]));
    expect(chunks[0]).toMatchObject({ candidates: [{ content: { parts } }] });
  });

  test('because its provider runs the tool itself is not told to the client', () => {
    const toolUse = { toolUseId: 't', name: 'nova_grounding', type: 'server_tool_use', input: { query: 'x' } };
    const stream = [
      { messageStart: { role: 'assistant' } },
      { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { ...toolUse, input: undefined } } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"query":"x"}' } } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { contentBlockDelta: { contentBlockIndex: 1, delta: { text: 'It rains.' } } },
      { messageStop: { stopReason: 'end_turn' } },
    ];
    const way: Way = { from: 'openai-chat', to: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' };
    const told = streamed(translate(way, chat()), [streamOf(stream, false)]);
    expect(told).toContain('It rains.');
    expect(told).not.toContain('tool_calls');
    const content = [{ toolUse }, { text: 'It rains.' }];
    const whole = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
    expect(answered(translate(way, chat()), whole)).toMatchObject({
      choices: [{ message: { content: 'It rains.' }, finish_reason: 'stop' }],
    });
  });
});

test.each<[string, Way, string[]]>([
  ['Gemini', chatToGemini, ['a', 'b', 'c', 'd', 'e']],
  ['chat', claudeToChat, ['a', 'b', 'c', 'd']],
  [
    'Converse',
    { from: 'openai-chat', to: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' },
    ['a', 'b', 'c', 'd', 'e', 'f'],
  ],
])('an empty stop sequence takes no real one’s place: %s', (_name, way, stops) => {
  const sequences = ['', 'a', 'b', '', 'c', 'd', 'e', 'f'];
  const asked =
    way.from === 'openai-chat' ? { ...chat(), stop: sequences } : { ...claude(), stop_sequences: sequences };
  const body = sent(way, asked) as { stop?: string[]; generationConfig?: Json; inferenceConfig?: Json };
  expect(body.stop ?? body.generationConfig?.stopSequences ?? body.inferenceConfig?.stopSequences).toEqual(stops);
});
