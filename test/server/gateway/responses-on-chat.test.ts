import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  bodyOf,
  chunk,
  completion,
  dataLine,
  sendStream,
  streamOf,
  strictChat,
  toolCall,
  usage,
} from '../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { itemEvents, type Json } from '../apis/translation/translating.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  const providers = [mainProvider(upstream.baseUrl, { serves: ['chat'] })];
  gateway = await startGateway({ config: { providers } });
  client = gateway.client;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const hello = { model: 'gpt-x', input: 'Hi' };
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  strict: false,
};

function answerWith(message: Json, finishReason = 'stop'): void {
  upstream.answer(strictChat((_body, response) => json(response, completion(message, finishReason))));
}

function streamWith(deltas: Json[], finishReason = 'stop'): void {
  upstream.answer(strictChat((_body, response) => sendStream(response, streamOf(deltas, finishReason))));
}

function lastSeen(): Json {
  const seen = upstream.seen.at(-1);
  if (!seen) throw new Error('nobody was asked');
  return bodyOf(seen);
}

test('a response comes from a provider that only serves chats', async () => {
  answerWith({ content: 'Hello there' });
  const { data, response } = await client.responses
    .create({ ...hello, instructions: 'Be brief.', metadata: { a: 'b' }, max_output_tokens: 50 })
    .withResponse();
  expect(data).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'gpt-x',
    output_text: 'Hello there',
    instructions: 'Be brief.',
    metadata: { a: 'b' },
    usage: { input_tokens: 21, output_tokens: 9, total_tokens: 30 },
  });
  expect(data.id).toMatch(/^resp_/);
  expect(lastSeen()).toEqual({
    model: 'gpt-x',
    max_completion_tokens: 50,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
  });
  expect(response.headers.get('x-sluice-dropped')).toBe('metadata;why=no-equal');
  expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
    route: '/v1/responses',
    capability: 'responses',
    provider: 'main',
    outcome: 'ok',
    usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
    usageCertainty: 'reported',
  });
});

test('tokens are estimated where the provider cannot count them', async () => {
  const { data, response } = await client.responses.inputTokens.count({ ...hello, tools: [weather] }).withResponse();
  expect(data).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
  expect(data.input_tokens).toBeGreaterThan(20);
  expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
  expect(upstream.seen).toEqual([]);
});

test('a stream has all events in order, numbered without a gap', async () => {
  const call = { index: 0, ...toolCall('call_1', 'weather', { place: 'Bonn' }) };
  streamWith(
    [{ reasoning_content: 'Hm' }, { content: 'Let me ' }, { content: 'look.' }, { tool_calls: [call] }],
    'tool_calls',
  );
  const events = [];
  for await (const event of await client.responses.create({ ...hello, tools: [weather], stream: true }))
    events.push(event);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, index) => index));
  expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    ...itemEvents('reasoning_summary_text'),
    ...itemEvents('output_text', 2),
    ...itemEvents('function_call_arguments'),
    'completed',
  ]);
  expect(events.at(-1)).toMatchObject({
    response: {
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Let me look.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"place":"Bonn"}' },
      ],
      usage: { input_tokens: 21, output_tokens: 9, total_tokens: 30 },
    },
  });
  expect(lastSeen()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});

test('the SDK’s stream helper makes the whole response of it', async () => {
  streamWith([{ content: 'Hel' }, { content: 'lo' }]);
  const stream = client.responses.stream(hello);
  const texts: string[] = [];
  stream.on('response.output_text.delta', ({ delta }) => texts.push(delta));
  expect((await stream.finalResponse()).output_text).toBe('Hello');
  expect(texts).toEqual(['Hel', 'lo']);
});

describe('tools', () => {
  test('are called over three turns, two at a time, and their results come back', async () => {
    const turns = [
      {
        tool_calls: [
          toolCall('call_1', 'weather', { place: 'Bonn' }),
          toolCall('call_2', 'weather', { place: 'Rome' }),
        ],
      },
      { content: 'And now Oslo.', tool_calls: [toolCall('call_3', 'weather', { place: 'Oslo' })] },
      { content: 'Wet, dry, cold.' },
    ];
    upstream.answer(
      strictChat(({ messages }, response) => {
        const turn = turns[(messages as { role: string }[]).filter(({ role }) => role === 'assistant').length];
        json(response, completion(turn ?? {}, turn?.tool_calls ? 'tool_calls' : 'stop'));
      }),
    );
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Bonn, Rome or Oslo?' }];
    for (;;) {
      const response = await client.responses.create({ model: 'gpt-x', input, tools: [weather], store: false });
      const calls = response.output.filter((item) => item.type === 'function_call');
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      if (calls.length === 0) break;
      for (const { call_id, arguments: given } of calls)
        input.push({ type: 'function_call_output', call_id, output: `weather of ${given}` });
    }
    expect(upstream.seen.length).toBe(3);
    expect(lastSeen().messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'weather of {"place":"Bonn"}' },
      { role: 'tool', tool_call_id: 'call_2' },
      { role: 'assistant', content: 'And now Oslo.', tool_calls: [{ id: 'call_3' }] },
      { role: 'tool', tool_call_id: 'call_3' },
    ]);
    expect(input.at(-1)).toMatchObject({ type: 'message', content: [{ text: 'Wet, dry, cold.' }] });
  });

  test('that take free text are offered as functions, and called as what they are', async () => {
    const patch = '*** Begin Patch\n*** Add File: a "b".txt\n+ü\n*** End Patch';
    const tool = {
      type: 'custom' as const,
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: "*** Begin Patch"' },
    };
    const call = toolCall('call_1', 'apply_patch', { input: patch });
    answerWith({ tool_calls: [call] }, 'tool_calls');
    const { data, response } = await client.responses.create({ ...hello, tools: [tool] }).withResponse();
    expect(data.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: patch },
    ]);
    expect(response.headers.get('x-sluice-emulated')).toBe('tools[0];why=as-function');
    expect(lastSeen().tools).toMatchObject([
      { type: 'function', function: { name: 'apply_patch', parameters: { required: ['input'] } } },
    ]);
    streamWith([{ tool_calls: [{ index: 0, ...call }] }], 'tool_calls');
    const stream = client.responses.stream({ ...hello, tools: [tool] });
    expect((await stream.finalResponse()).output).toMatchObject([{ type: 'custom_tool_call', input: patch }]);
    answerWith({ content: 'Done' });
    const output = { type: 'custom_tool_call_output' as const, call_id: 'call_1', output: 'Done' };
    const history = [{ role: 'user' as const, content: 'Hi' }, ...data.output, output];
    await client.responses.create({ model: 'gpt-x', tools: [tool], input: history as OpenAI.Responses.ResponseInput });
    expect(lastSeen().messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { arguments: JSON.stringify({ input: patch }) } }] },
      { role: 'tool', content: 'Done' },
    ]);
  });

  test('that only OpenAI runs are dropped and reported, or refused if the client accepts no losses', async () => {
    answerWith({ content: 'Hello' });
    const asked = { ...hello, tools: [{ type: 'web_search' as const }, weather] };
    const { response } = await client.responses.create(asked).withResponse();
    expect(response.headers.get('x-sluice-dropped')).toBe('tools[0];why=provider-tool');
    expect(lastSeen().tools).toHaveLength(1);
    await expect(client.responses.create(asked, { headers: { 'x-sluice-lossy': 'refuse' } })).rejects.toMatchObject({
      status: 400,
      param: 'tools[0]',
    });
    await expect(
      client.responses.create({ ...asked, tool_choice: { type: 'web_search_preview' } }),
    ).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
  });

  test('that the model is required to call are named in tool_choice', async () => {
    answerWith({ tool_calls: [toolCall('call_1', 'weather', { place: 'Bonn' })] });
    const tool_choice = { type: 'function' as const, name: 'weather' };
    await client.responses.create({ ...hello, tools: [weather], tool_choice, parallel_tool_calls: false });
    expect(lastSeen()).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    });
  });
});

test('an answer in a given form is asked for in the words of chats', async () => {
  answerWith({ content: '{"city":"Bonn"}' });
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  };
  const format = { type: 'json_schema' as const, name: 'place', schema, strict: true };
  const response = await client.responses.parse({ ...hello, text: { format } });
  expect(response.output_parsed).toEqual({ city: 'Bonn' });
  expect(lastSeen().response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: 'place', schema, strict: true },
  });
});

test('images are translated', async () => {
  answerWith({ content: 'A dot' });
  const image_url = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'input_text' as const, text: 'What is it?' },
    { type: 'input_image' as const, image_url, detail: 'low' as const },
  ];
  await client.responses.create({ model: 'gpt-x', input: [{ role: 'user', content }] });
  expect(lastSeen().messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: image_url, detail: 'low' } },
      ],
    },
  ]);
});

test('reasoning comes back in an envelope, and goes to a model that wants it', async () => {
  const deepSeek = 'deepseek-v4-pro';
  answerWith(
    { reasoning_content: 'Where is it?', tool_calls: [toolCall('call_1', 'weather', { place: 'Bonn' })] },
    'tool_calls',
  );
  const include = ['reasoning.encrypted_content' as const];
  const first = await client.responses.create({ ...hello, model: deepSeek, tools: [weather], include, store: false });
  expect(first.output).toMatchObject([
    { type: 'reasoning', summary: [{ text: 'Where is it?' }], encrypted_content: expect.any(String) },
    { type: 'function_call' },
  ]);
  answerWith({ content: 'Wet' });
  const result = { type: 'function_call_output' as const, call_id: 'call_1', output: 'rain' };
  const input = [{ role: 'user' as const, content: 'Hi' }, ...first.output, result];
  await client.responses.create({ model: deepSeek, tools: [weather], input: input as OpenAI.Responses.ResponseInput });
  expect(lastSeen().messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', reasoning_content: 'Where is it?' },
    { role: 'tool' },
  ]);
});

test('a cut answer is incomplete', async () => {
  answerWith({ content: 'Hel' }, 'length');
  expect(await client.responses.create(hello)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  });
});

describe('what a chat cannot provide is refused with an error in OpenAI’s format', () => {
  test.each([
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ])('%s', async (param, more) => {
    await expect(
      client.responses.create({ ...hello, ...more } as OpenAI.Responses.ResponseCreateParamsNonStreaming),
    ).rejects.toMatchObject({
      status: 400,
      param,
      type: 'invalid_request_error',
    });
    expect(upstream.seen).toEqual([]);
  });
});

describe('errors', () => {
  test('of the provider have its status and words', async () => {
    upstream.answer((_request, response) =>
      json(
        response,
        { error: { message: 'Bad schema', type: 'invalid_request_error', param: null, code: 'bad' } },
        400,
      ),
    );
    await expect(client.responses.create(hello)).rejects.toMatchObject({
      status: 400,
      code: 'bad',
      message: '400 Bad schema',
    });
  });

  test('in a stream raise in the SDK, and end in `response.failed`', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'Hel' }));
      response.end(dataLine({ error: { message: 'It broke', type: 'server_error', code: 'oops' } }));
    });
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
    });
    const text = await response.text();
    expect(text).toMatch(/event: error\n.*It broke.*\n\nevent: response\.failed\n.*"status":"failed".*\n\n$/);
  });

  test('a stream that the provider does not finish ends as failed', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end(chunk({ content: 'Hel' }));
    });
    const events: string[] = [];
    const reading = async () => {
      for await (const { type } of await client.responses.create({ ...hello, stream: true })) events.push(type);
    };
    await expect(reading()).rejects.toThrow();
    expect(events).not.toContain('response.completed');
  });
});

test('a hint without an equivalent is dropped and reported, and a meaningless one is not', async () => {
  answerWith({ content: 'Hello' });
  const { response } = await client.responses
    .create({ ...hello, store: true, truncation: 'auto', include: ['reasoning.encrypted_content'], max_tool_calls: 3 })
    .withResponse();
  expect(response.headers.get('x-sluice-dropped')).toBe('truncation;why=no-equal, max_tool_calls;why=no-equal');
});

test('what Codex and the SDK send to OpenAI about the installation stays here', async () => {
  upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
  const own = { 'x-codex-turn-metadata': '{"installation_id":"i1"}', 'session-id': 's1', originator: 'codex_exec' };
  await client.responses.create(hello, { headers: { ...own, 'thread-id': 't1', 'x-tenant': 'a' } });
  const headers = upstream.seen[0]?.headers ?? {};
  expect(headers['x-tenant']).toBe('a');
  for (const name of [...Object.keys(own), 'thread-id']) expect(headers).not.toHaveProperty(name);
  expect(Object.keys(headers).filter((name) => name.startsWith('x-stainless-'))).toEqual([]);
});

test('Trap 52: Codex’s question for models gets OpenAI’s list, which it passes over for its own (openai/codex#37122)', async () => {
  const response = await gateway.fetch('/models?client_version=0.169.0');
  expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'gpt-x' }] });
});
