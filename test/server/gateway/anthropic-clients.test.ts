import { gzipSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  bodyOf,
  chunk,
  completion,
  sendStream,
  streamOf,
  strictChat,
  toolCall,
  usage,
} from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  client = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const hello = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const weather = {
  name: 'weather',
  description: 'The weather of a place',
  input_schema: { type: 'object' as const, properties: { place: { type: 'string' } }, required: ['place'] },
};

test('a message is answered by a provider that only serves chats', async () => {
  upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello there' }))));
  const { data, response } = await client.messages
    .create({ ...hello, system: 'Be brief.', stop_sequences: ['END'] })
    .withResponse();
  expect(data).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'gpt-x',
    content: [{ type: 'text', text: 'Hello there' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 21, output_tokens: 9 },
  });
  const [seen] = upstream.seen;
  expect(seen && bodyOf(seen)).toMatchObject({
    model: 'gpt-x',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
    stop: ['END'],
  });
  expect(seen?.headers.authorization).toBe('Bearer upstream-secret');
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
  expect(response.headers.get('request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record).toMatchObject({
    route: '/v1/messages',
    capability: 'chat',
    modelAsked: 'gpt-x',
    provider: 'main',
    outcome: 'ok',
    status: 200,
    usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
    usageCertainty: 'reported',
  });
});

test('the key is taken from either header', async () => {
  upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
  const withKey = new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: 0 });
  expect((await withKey.messages.create(hello)).content).toMatchObject([{ text: 'Hello' }]);
});

test('a stream comes through the SDK’s helper as the message that it makes', async () => {
  upstream.answer(
    strictChat((_body, response) => sendStream(response, streamOf([{ content: 'Hel' }, { content: 'lo' }]))),
  );
  const stream = client.messages.stream(hello);
  const texts: string[] = [];
  stream.on('text', (text) => texts.push(text));
  const message = await stream.finalMessage();
  expect(texts).toEqual(['Hel', 'lo']);
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 21, output_tokens: 9 },
  });
  const [seen] = upstream.seen;
  expect(seen && bodyOf(seen)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(await gateway.record(stream.request_id ?? '')).toMatchObject({
    stream: true,
    outcome: 'ok',
    usage: { inputTokens: 21, outputTokens: 9 },
    usageCertainty: 'reported',
  });
});

test('tools are called over three turns, and their results come back to the provider', async () => {
  const turns = [
    { content: 'Let me look.', tool_calls: [toolCall('call_1', 'weather', { place: 'Bonn' })] },
    { tool_calls: [toolCall('call_2', 'weather', { place: 'Rome' })] },
    { content: 'Bonn is wet, Rome is dry.' },
  ];
  upstream.answer(
    strictChat(({ messages }, response) => {
      const turn = turns[(messages as { role: string }[]).filter(({ role }) => role === 'assistant').length];
      json(response, completion(turn ?? {}, turn?.tool_calls ? 'tool_calls' : 'stop'));
    }),
  );
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Bonn or Rome?' }];
  const asked: unknown[] = [];
  for (;;) {
    const reply = await client.messages.create({ ...hello, messages, tools: [weather] });
    messages.push({ role: 'assistant', content: reply.content });
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    if (reply.stop_reason !== 'tool_use') break;
    asked.push(...calls.map(({ input }) => input));
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: `weather of ${id}` })),
    });
  }
  expect(asked).toEqual([{ place: 'Bonn' }, { place: 'Rome' }]);
  expect(messages.at(-1)?.content).toMatchObject([{ type: 'text', text: 'Bonn is wet, Rome is dry.' }]);
  const last = upstream.seen.at(-1);
  expect(upstream.seen.length).toBe(3);
  expect(last && bodyOf(last).messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'weather of call_1' },
    { role: 'assistant', tool_calls: [{ id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_2', content: 'weather of call_2' },
  ]);
});

test('parallel tool calls in a stream become consecutive content blocks', async () => {
  const part = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
  const begun = (index: number, id: string) =>
    part(index, { id, type: 'function', function: { name: 'weather', arguments: '' } });
  const deltas = [
    begun(0, 'call_a'),
    begun(1, 'call_b'),
    part(1, { function: { arguments: '{"place":' } }),
    part(0, { function: { arguments: '{"place":"Bonn"}' } }),
    part(1, { function: { arguments: '"Rome"}' } }),
  ];
  upstream.answer(strictChat((_body, response) => sendStream(response, streamOf(deltas, 'tool_calls'))));
  const message = await client.messages.stream({ ...hello, tools: [weather] }).finalMessage();
  expect(message.stop_reason).toBe('tool_use');
  expect(message.content).toMatchObject([
    { type: 'tool_use', id: 'call_a', name: 'weather', input: { place: 'Bonn' } },
    { type: 'tool_use', id: 'call_b', name: 'weather', input: { place: 'Rome' } },
  ]);
});

test('a model’s reasoning becomes a thinking block', async () => {
  const deltas = [{ reasoning_content: 'Hm' }, { reasoning_content: '…' }, { content: 'Yes' }];
  upstream.answer(strictChat((_body, response) => sendStream(response, streamOf(deltas))));
  const message = await client.messages.stream(hello).finalMessage();
  expect(message.content).toMatchObject([
    { type: 'thinking', thinking: 'Hm…' },
    { type: 'text', text: 'Yes' },
  ]);
});

test('images reach the provider', async () => {
  upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'A cat' }))));
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGVsbG8=' };
  const content = [
    { type: 'text' as const, text: 'What is it?' },
    { type: 'image' as const, source },
  ];
  await client.messages.create({ ...hello, messages: [{ role: 'user', content }] });
  const [seen] = upstream.seen;
  expect(seen && bodyOf(seen).messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
      ],
    },
  ]);
});

test('a stream is written event by event, as Anthropic writes it', async () => {
  upstream.answer(strictChat((_body, response) => sendStream(response, streamOf([{ content: 'Grüße' }]))));
  const response = await fetch(`${gateway.origin}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'x-api-key': testKey, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ ...hello, stream: true }),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const text = await response.text();
  const begun = /"input_tokens":(\d+)/.exec(text)?.[1];
  expect(Number(begun)).toBeGreaterThan(0);
  const zero = '"cache_creation_input_tokens":0,"cache_read_input_tokens":0';
  const events = text.split('\n\n').map((event) => event.split('\n')[0]);
  expect(events).toEqual([
    'event: message_start',
    'event: content_block_start',
    'event: content_block_delta',
    'event: content_block_stop',
    'event: message_delta',
    'event: message_stop',
    '',
  ]);
  expect(text).toContain(
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}\n\n',
  );
  expect(text).toContain(zero);
  expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
});

test('a whole answer becomes the stream that was asked for', async () => {
  upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
  const message = await client.messages.stream(hello).finalMessage();
  expect(message).toMatchObject({ content: [{ text: 'Hello' }], usage: { input_tokens: 21, output_tokens: 9 } });
});

test('an answer that the provider compresses without being asked is still read', async () => {
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(completion({ content: 'Hello' }))));
  });
  const { data, response } = await client.messages.create(hello).withResponse();
  expect(data.content).toMatchObject([{ text: 'Hello' }]);
  expect(response.headers.has('content-encoding')).toBe(false);
});

test('a client that disconnects cancels the provider’s request', async () => {
  const stopped = new Promise<void>((resolve) => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'Once' }));
      response.once('close', resolve);
    });
  });
  const { data: stream, response } = await client.messages.create({ ...hello, stream: true }).withResponse();
  for await (const event of stream) if (event.type === 'content_block_delta') break;
  stream.controller.abort();
  await stopped;
  const record = await gateway.record(response.headers.get('request-id') ?? '');
  expect(record).toMatchObject({ outcome: 'client-gone' });
});
