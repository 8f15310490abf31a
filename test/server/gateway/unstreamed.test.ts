/** An upstream that does not support streams: a client that requested a stream receives the same answer as a stream. */
import { gzipSync } from 'node:zlib';
import type OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json } from '../../support/upstream.ts';
import { answer, chat, done, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

const policy = { retries: 0, fallbacks: 1, timeouts: { idleMs: 30_000 } };
let both: TwoUpstreams;

beforeEach(async () => {
  both = await startTwo(policy);
});
afterEach(() => both.stop());

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const call = (id: string, given: string) => ({ id, type: 'function', function: { name: 'get', arguments: given } });
const completion = (message: object, finish_reason = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason }],
  usage,
});
const ask = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'hi' }] };

async function askChat(more: object = {}) {
  const response = await both.gateway.fetch('/chat/completions', chat(more));
  const text = await response.text();
  return { response, text, record: await both.gateway.record(response.headers.get('x-sluice-request-id') ?? '') };
}

describe('a whole answer to a request for a streamed chat', () => {
  test('is assembled by the official client, with its tool calls and usage', async () => {
    const message = { content: 'Let me see.', tool_calls: [call('call_1', '{"a":1}'), call('call_2', '{}')] };
    both.one.answer((_request, response) => json(response, completion(message, 'tool_calls')));
    const stream = both.gateway.client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    const whole = await stream.finalChatCompletion();
    expect(whole.choices[0]).toMatchObject({ message, finish_reason: 'tool_calls' });
    expect(whole.usage).toEqual(usage);
    expect(await both.gateway.record()).toMatchObject({ outcome: 'ok', usage: { inputTokens: 3, outputTokens: 4 } });
  });

  test.each([undefined, { include_usage: false }])('has no usage if none was requested (%j)', async (options) => {
    both.one.answer((_request, response) => json(response, completion({ content: 'Hello' })));
    const { response, text, record } = await askChat({ stream_options: options });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(textOf(text)).toBe('Hello');
    expect(text).not.toContain('usage');
    expect(text.endsWith(done)).toBe(true);
    expect(record).toMatchObject({ outcome: 'ok', usageCertainty: 'reported', usage: { outputTokens: 4 } });
  });

  test('may have been compressed', async () => {
    const packed = gzipSync(JSON.stringify(completion({ content: 'Hello' })));
    both.one.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
    });
    expect(textOf((await askChat()).text)).toBe('Hello');
  });

  test('that is an error is replaced by the answer of the next target', async () => {
    both.one.answer((_request, response) => json(response, { error: { message: 'Overloaded', code: 'overloaded' } }));
    streams(both.two, answer('two', 'Hello'));
    expect(textOf((await askChat()).text)).toBe('Hello');
  });

  test('can be used to rescue a stream that broke', async () => {
    streams(both.one, answer('one', 'Hello ', 'world').slice(0, 2), 'breaks');
    both.two.answer((_request, response) => json(response, completion({ content: 'Hello world' })));
    const { text, record } = await askChat();
    expect([textOf(text), record.outcome]).toEqual(['Hello world', 'ok']);
  });
});

test('a whole answer to a streamed legacy completion becomes one chunk', async () => {
  const choices = [{ text: 'Hello', index: 0, logprobs: null, finish_reason: 'stop' }];
  const reply = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices, usage };
  both.one.answer((_request, response) => json(response, reply));
  const stream = await both.gateway.client.completions.create({ model: 'gpt-x', prompt: 'x', stream: true });
  const chunks: OpenAI.Completion[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks).toEqual([{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices }]);
});

test('a whole answer to a streamed response becomes the events of all its items', async () => {
  const output = [
    { id: 'rs_1', type: 'reasoning', summary: [] },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'Hello', annotations: [] },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
    { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'get', arguments: '{"a":1}', status: 'completed' },
  ];
  const tokens = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  const reply = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output,
    usage: tokens,
  };
  both.one.answer((_request, response) => json(response, reply));
  const stream = both.gateway.client.responses.stream({ model: 'gpt-x', input: 'hi' });
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.content_part.added',
    'response.refusal.delta',
    'response.refusal.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect((await stream.finalResponse()).output_text).toBe('Hello');
  expect(await both.gateway.record()).toMatchObject({ outcome: 'ok', usage: { inputTokens: 3, outputTokens: 4 } });
});

test('a reply that cannot be expressed as events is passed on unchanged', async () => {
  const reply = { text: 'Hello' };
  both.one.answer((_request, response) => json(response, reply));
  const { response, text } = await askChat();
  expect([response.headers.get('content-type'), text]).toEqual(['application/json', JSON.stringify(reply)]);
});
