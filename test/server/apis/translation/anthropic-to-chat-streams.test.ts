/**
 * Chat streams to a client of Anthropic's Messages. Sources: OpenAI's API reference, and Anthropic's "Streaming
 * messages".
 */
import { describe, expect, test } from 'vitest';
import { dataOf, everySplit, type Json, streamed, streamOf, translate, type Way } from './translating.ts';

const way: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'llama-3.3-70b-versatile' };
const user = { role: 'user', content: 'Hello' };
const plain = { model: 'claude-opus-5', max_tokens: 500, messages: [user] };
const tool = { name: 'read_file', description: 'Reads a file', input_schema: { type: 'object', properties: {} } };

function chunk(delta: Json, finish: string | null = null): Json {
  return { id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
}

const callChunk = (index: number, id: string | undefined, called: Json) =>
  chunk({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: 'function' }), function: called }] });

const usageChunk = { id: 'c1', choices: [], usage: { prompt_tokens: 10, completion_tokens: 3 } };

const spoken = streamOf(
  [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm' }),
    chunk({ reasoning_content: '.' }),
    chunk({ content: 'Grüße ' }),
    chunk({ content: '漢字' }),
    callChunk(0, 'call_1', { name: 'read_file', arguments: '' }),
    callChunk(0, undefined, { arguments: '{"path":' }),
    callChunk(0, undefined, { arguments: '"a"}' }),
    callChunk(1, 'call_2', { name: 'read_file', arguments: '' }),
    chunk({}, 'tool_calls'),
    usageChunk,
    '[DONE]',
  ],
  false,
);

describe('a stream', () => {
  const request = translate(way, { ...plain, tools: [tool], stream: true });

  test('becomes one block after the other, with the whole usage at its end', () => {
    const events = dataOf(streamed(request, [spoken])) as Json[];
    expect(events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'content_block_start 3',
      'content_block_delta 3',
      'content_block_stop 3',
      'message_delta',
      'message_stop',
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 10, output_tokens: 3 },
    });
    expect(events.at(-4)).toMatchObject({ delta: { type: 'input_json_delta', partial_json: '{}' } });
  });

  test('has the name of each event in a line of its own', () => {
    for (const event of streamed(request, [spoken]).trim().split('\n\n')) {
      const [name, data] = event.split('\n');
      expect(name).toBe(`event: ${JSON.parse(data?.slice('data: '.length) ?? '').type}`);
    }
  });

  test('is the same wherever its bytes are divided', () => {
    const whole = streamed(request, [spoken]);
    for (const pieces of everySplit(spoken)) expect(streamed(request, pieces)).toBe(whole);
  });

  test('is the same as the whole answer told as a stream', () => {
    const message = {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
    };
    const completion = { id: 'c1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const told = request.wholeAsEvents(Buffer.from(JSON.stringify(completion)), { createdAt: 1 });
    const types = (dataOf(told?.toString() ?? '') as Json[]).map(({ type }) => type);
    expect(types.filter((type) => type === 'content_block_start')).toHaveLength(3);
    expect(types.at(-1)).toBe('message_stop');
  });

  test('that breaks off has no end', () => {
    const cut = streamOf([chunk({ content: 'So' })], false);
    const events = request.events({ createdAt: 1 });
    const told = streamed(request, [cut]);
    expect(told).not.toContain('message_delta');
    expect(told).not.toContain('message_stop');
    expect(events.isOver).toBe(false);
    expect(events.fail({ message: 'It broke.', type: 'server_error', code: 'upstream_stream_broken' }).toString()).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke."}}\n\n',
    );
  });

  test('whose last call breaks off ends in an error', () => {
    const cut = streamOf(
      [callChunk(0, 'a', { name: 'read_file', arguments: '{"pa' }), chunk({}, 'tool_calls'), usageChunk, '[DONE]'],
      false,
    );
    const told = streamed(request, [cut]);
    expect(dataOf(told).at(-1)).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('read_file') },
    });
    expect(told).not.toContain('message_stop');
  });

  test('with an error in it has it in the words of the client', () => {
    const error = { message: 'Too many requests', type: 'requests', code: 'rate_limit_exceeded' };
    const told = dataOf(streamed(request, [streamOf([chunk({ content: 'x' }), { error }], false)]));
    expect(told.at(-1)).toEqual({ type: 'error', error: { type: 'rate_limit_error', message: 'Too many requests' } });
  });

  test('without [DONE] is complete if it has its reason', () => {
    expect(streamed(request, [streamOf([chunk({ content: 'x' }, 'stop')], false)])).toContain('message_stop');
  });

  test('tells calls apart that come in turns', () => {
    const mixed = streamOf(
      [
        callChunk(0, 'a', { name: 'one', arguments: '{"a":' }),
        callChunk(1, 'b', { name: 'two', arguments: '{"b":' }),
        callChunk(0, undefined, { arguments: '1}' }),
        callChunk(1, undefined, { arguments: '2}' }),
        chunk({ content: 'Done.' }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ],
      false,
    );
    const events = dataOf(streamed(request, [mixed])) as { index?: number; delta?: Json; content_block?: Json }[];
    const blocks = [0, 1, 2].map((index) =>
      events
        .filter((event) => event.index === index)
        .map(({ delta }) => delta?.partial_json ?? delta?.text ?? '')
        .join(''),
    );
    expect(blocks).toEqual(['{"a":1}', '{"b":2}', 'Done.']);
    expect(events.filter(({ content_block }) => content_block).map(({ index }) => index)).toEqual([0, 1, 2]);
  });
});
