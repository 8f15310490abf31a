import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf, completion, sendStream, strictChat } from '../../support/strict-chat.ts';
import {
  callWith,
  event,
  messageWith,
  reasoningWith,
  responseWith,
  streamOfResponse,
  strictResponses,
} from '../../support/strict-responses.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

let upstream: ScriptedUpstream;
let chats: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  chats = await startUpstream();
  const models = ['gpt-5-pro', 'gpt-6-astra', 'gpt-4o'];
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.baseUrl, { serves: ['responses'], models: ['gpt-5.4', 'open-model'] }),
        { id: 'both', baseUrl: upstream.baseUrl, models, serves: ['chat', 'responses'] },
        { id: 'plain', baseUrl: chats.baseUrl, models: ['llama'] },
      ],
    },
  });
  client = gateway.client;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await chats.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  chats.seen.length = 0;
});

const hello = { model: 'gpt-5.4', messages: [{ role: 'user' as const, content: 'Hi' }] };
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { place: { type: 'string' } } } },
};

function answerWith(output: Json[], more: Json = {}): void {
  const response = responseWith(output, more);
  upstream.answer(
    strictResponses((body, reply) =>
      body.stream ? sendStream(reply, streamOfResponse(response)) : json(reply, response),
    ),
  );
}

function lastSeen(): Json {
  const seen = upstream.seen.at(-1);
  if (!seen) throw new Error('nobody was asked');
  return bodyOf(seen);
}

test('a chat works with a provider that only serves Responses', async () => {
  answerWith([reasoningWith('Hm'), messageWith('Hello there')]);
  const { data, response } = await client.chat.completions
    .create({
      ...hello,
      messages: [{ role: 'system', content: 'Be brief.' }, ...hello.messages],
      max_completion_tokens: 100,
      reasoning_effort: 'low',
      seed: 7,
    })
    .withResponse();
  expect(data).toMatchObject({
    object: 'chat.completion',
    model: 'gpt-5.4',
    choices: [
      { message: { role: 'assistant', content: 'Hello there', reasoning_content: 'Hm' }, finish_reason: 'stop' },
    ],
    usage: {
      prompt_tokens: 21,
      completion_tokens: 9,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  });
  expect(lastSeen()).toEqual({
    model: 'gpt-5.4',
    instructions: 'Be brief.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    max_output_tokens: 100,
    reasoning: { effort: 'low', summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
  });
  expect(response.headers.get('x-sluice-dropped')).toBe('seed;why=no-equal');
  expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
    route: '/v1/chat/completions',
    capability: 'chat',
    outcome: 'ok',
    usage: { inputTokens: 21, outputTokens: 9, cachedInputTokens: 4, reasoningTokens: 3 },
    usageCertainty: 'reported',
  });
});

test('a stream becomes chat chunks, with usage if that was requested', async () => {
  answerWith([reasoningWith('Hm'), messageWith('Hello'), callWith('call_1', 'weather', { place: 'Bonn' })]);
  const stream = await client.chat.completions.create({
    ...hello,
    tools: [weather],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as Json));
  expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe('Hm');
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe('Hello');
  const calls = deltas.flatMap(({ tool_calls }) => (tool_calls ?? []) as { index: number; function: Json }[]);
  expect(calls[0]).toMatchObject({ index: 0, id: 'call_1', type: 'function', function: { name: 'weather' } });
  expect(calls.map((call) => call.function.arguments).join('')).toBe('{"place":"Bonn"}');
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 21, completion_tokens: 9 } });
});

test('the SDK’s stream helper makes the whole completion of it, without usage that was not asked for', async () => {
  answerWith([messageWith('Hello')]);
  const completed = await client.chat.completions.stream(hello).finalChatCompletion();
  expect(completed.choices[0]?.message.content).toBe('Hello');
  expect(completed.usage).toBeUndefined();
});

test('tools are called over turns, and their results come back', async () => {
  answerWith([callWith('call_3', 'weather', { place: 'Bonn' }), callWith('call_4', 'weather', { place: 'Rome' })]);
  const tool_choice = { type: 'function' as const, function: { name: 'weather' } };
  const asked = { ...hello, tools: [weather], tool_choice, parallel_tool_calls: true };
  const first = await client.chat.completions.create(asked);
  expect(first.choices[0]?.finish_reason).toBe('tool_calls');
  expect(lastSeen()).toMatchObject({
    tools: [{ type: 'function', name: 'weather', parameters: weather.function.parameters, strict: false }],
    tool_choice: { type: 'function', name: 'weather' },
    parallel_tool_calls: true,
  });
  const message = first.choices[0]?.message;
  const calls = message?.tool_calls ?? [];
  const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: `for ${id}` }));
  answerWith([messageWith('Wet and dry')]);
  if (!message) throw new Error('there is no message');
  await client.chat.completions.create({
    ...hello,
    tools: [weather],
    messages: [...hello.messages, message, ...results],
  });
  expect(lastSeen().input).toMatchObject([
    { type: 'message', role: 'user' },
    { type: 'function_call', call_id: 'call_3', name: 'weather', arguments: '{"place":"Bonn"}' },
    { type: 'function_call', call_id: 'call_4' },
    { type: 'function_call_output', call_id: 'call_3', output: 'for call_3' },
    { type: 'function_call_output', call_id: 'call_4', output: 'for call_4' },
  ]);
});

test('sealed reasoning goes back to the model that it came from, by a client that keeps what it does not know', async () => {
  answerWith([reasoningWith('Hm'), callWith('call_1', 'weather', {})]);
  const asked = { ...hello, tools: [weather] };
  const { choices } = await client.chat.completions.create(asked);
  const message = choices[0]?.message;
  if (!message) throw new Error('there is no message');
  answerWith([messageWith('Done')]);
  const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'rain' };
  await client.chat.completions.create({ ...asked, messages: [...hello.messages, message, result] });
  expect(lastSeen().input).toMatchObject([
    { type: 'message' },
    { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAAsealed' },
    { type: 'function_call', call_id: 'call_1' },
    { type: 'function_call_output' },
  ]);
});

test('an answer in a given form is asked for in the words of Responses', async () => {
  answerWith([messageWith('{"city":"Bonn"}')]);
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const json_schema = { name: 'place', schema, strict: true };
  const answer = await client.chat.completions.create({
    ...hello,
    response_format: { type: 'json_schema', json_schema },
  });
  expect(answer.choices[0]?.message.content).toBe('{"city":"Bonn"}');
  expect(lastSeen().text).toEqual({ format: { type: 'json_schema', ...json_schema } });
});

test('images go along, and several answers are refused', async () => {
  answerWith([messageWith('A dot')]);
  const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' };
  const content = [
    { type: 'text' as const, text: 'What?' },
    { type: 'image_url' as const, image_url },
  ];
  await client.chat.completions.create({ ...hello, messages: [{ role: 'user', content }] });
  expect(lastSeen().input).toMatchObject([
    { content: [{ type: 'input_text' }, { type: 'input_image', image_url: image_url.url }] },
  ]);
  await expect(client.chat.completions.create({ ...hello, n: 2 })).rejects.toMatchObject({ status: 400, param: 'n' });
});

test('an answer that was cut short has its finish reason', async () => {
  answerWith([messageWith('Hel')], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  expect((await client.chat.completions.create(hello)).choices[0]?.finish_reason).toBe('length');
});

describe('errors', () => {
  test('have the provider’s status and words', async () => {
    const error = { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' };
    upstream.answer((_request, response) => json(response, { error }, 400));
    await expect(client.chat.completions.create(hello)).rejects.toMatchObject({
      message: expect.stringContaining('Rate limit reached'),
    });
  });

  test('in a stream raise in the SDK', async () => {
    upstream.answer((_request, reply) => {
      const start = streamOfResponse(responseWith([messageWith('Hello')])).split('event: response.output_item.done')[0];
      const failed = { ...responseWith([]), status: 'failed', error: { code: 'server_error', message: 'It broke' } };
      sendStream(reply, `${start}${event('response.failed', { response: failed })}`);
    });
    const reading = async () => {
      for await (const _chunk of await client.chat.completions.create({ ...hello, stream: true }));
    };
    await expect(reading()).rejects.toThrow('It broke');
  });
});

describe('a model that OpenAI has in no chat', () => {
  test('is asked by Responses, and any other by a chat', async () => {
    answerWith([messageWith('Hello')]);
    await client.chat.completions.create({ ...hello, model: 'gpt-5-pro' });
    expect(upstream.seen.at(-1)?.url).toBe('/v1/responses');
    upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
    await client.chat.completions.create({ ...hello, model: 'gpt-4o' });
    expect(upstream.seen.at(-1)?.url).toBe('/v1/chat/completions');
  });

  test('with functions is asked by Responses as soon as there are some', async () => {
    answerWith([callWith('call_1', 'weather', {})]);
    await client.chat.completions.create({ ...hello, model: 'gpt-6-astra', tools: [weather] });
    expect(upstream.seen.at(-1)?.url).toBe('/v1/responses');
  });
});

describe('a Responses body on the path of chats, as Cursor sends it', () => {
  const body = {
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ],
    tools: [
      { type: 'function', name: 'weather', parameters: { type: 'object' } },
      { name: 'look', description: 'Looks', input_schema: { type: 'object', properties: { at: {} } } },
    ],
    stream_options: { include_usage: true },
  };
  const ask = (more: object) =>
    client.chat.completions.create({ ...body, ...more } as never) as unknown as Promise<Json>;

  test('is a chat for a provider that has chats, and is answered as one', async () => {
    chats.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
    expect(await ask({ model: 'llama' })).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hello' } }],
    });
    const seen = chats.seen.at(-1);
    expect(seen && bodyOf(seen)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [
        { function: { name: 'weather' } },
        { function: { name: 'look', parameters: { type: 'object', properties: { at: {} } } } },
      ],
    });
  });

  test('goes to a provider of Responses, and is answered as a stream of chunks', async () => {
    answerWith([messageWith('Hello')]);
    const stream = (await ask({
      model: 'gpt-5.4',
      stream: true,
    })) as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>;
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello');
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 21 });
    expect(lastSeen().input).toMatchObject([{ role: 'user' }]);
  });
});
