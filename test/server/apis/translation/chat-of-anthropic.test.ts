/**
 * Answers of a Claude to a client of OpenAI's chat, whole and streamed. Sources: OpenAI's API reference ("Create chat
 * completion") and Anthropic's ("Create a Message", "Streaming messages").
 */
import { describe, expect, test } from 'vitest';
import {
  answered,
  dataOf,
  everySplit,
  type Json,
  lineOf,
  lossesOf,
  sent,
  streamed,
  streamOf,
  translate,
  translatorOf,
  type Way,
} from './translating.ts';

const way: Way = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-6' };
const on = (model: string): Way => ({ ...way, model });
const user = { role: 'user', content: 'Hello' };
const plain = { model: 'best', messages: [user] };
const read = { type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: {} } } };

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-6',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
    { type: 'redacted_thinking', data: 'Rx==' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 20 },
  },
};

describe('a whole answer', () => {
  test('has its text, thoughts, calls, reason and total usage', () => {
    expect(answered(translate(way, { ...plain, tools: [read] }), message)).toEqual({
      id: 'chatcmpl-msg_1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'best',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'I look.',
            refusal: null,
            reasoning_content: 'Hm.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm.', signature: expect.any(String), index: 0 },
              { type: 'reasoning.encrypted', data: expect.any(String), index: 1 },
            ],
            tool_calls: [
              { id: 'toolu_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    });
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['unheard_of', 'stop'],
  ])('that stops with %s finishes with %s', (reason, expected) => {
    const whole = { ...message, content: [{ type: 'text', text: 'x' }], stop_reason: reason };
    expect(answered(translate(way, plain), whole)).toMatchObject({ choices: [{ finish_reason: expected }] });
  });

  test('calls a custom tool with its text', () => {
    const asked = { ...plain, tools: [{ type: 'custom', custom: { name: 'patch' } }] };
    const block = { type: 'tool_use', id: 'toolu_1', name: 'patch', input: { input: '*** "Begin"\n' } };
    expect(answered(translate(way, asked), { ...message, content: [block] })).toMatchObject({
      choices: [{ message: { tool_calls: [{ type: 'custom', custom: { name: 'patch', input: '*** "Begin"\n' } }] } }],
    });
  });
});

const delta = (index: number, value: Json) => ({ type: 'content_block_delta', index, delta: value });
const start = (index: number, block: Json) => ({ type: 'content_block_start', index, content_block: block });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const begin = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } } };
const finish = (reason: string, usage: Json) => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

const spoken = streamOf(
  [
    begin,
    { type: 'ping' },
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'Ev==' }),
    stop(0),
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Grüße 漢字' }),
    stop(1),
    start(2, { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '' }),
    delta(2, { type: 'input_json_delta', partial_json: '{"path":' }),
    delta(2, { type: 'input_json_delta', partial_json: '"a"}' }),
    stop(2),
    start(3, { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {} }),
    delta(3, { type: 'input_json_delta', partial_json: '' }),
    stop(3),
    ...finish('tool_use', { output_tokens: 50, cache_read_input_tokens: 60 }),
  ],
  true,
);

interface Chunk {
  choices: { delta: Json & { tool_calls?: Json[] }; finish_reason: string | null }[];
  usage?: Json | null;
}

describe('a stream', () => {
  const request = translate(way, { ...plain, tools: [read], stream: true, stream_options: { include_usage: true } });

  test('becomes chunks, with calls counted from 0 and the usage before its end', () => {
    const chunks = dataOf(streamed(request, [spoken]));
    expect(chunks.pop()).toBe('[DONE]');
    const told = chunks as Chunk[];
    expect(told.pop()).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 70,
        completion_tokens: 50,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60 },
      },
    });
    expect(told.every(({ usage }) => usage === null)).toBe(true);
    expect(told.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: expect.any(String), index: 0 }] },
      { content: 'Grüße 漢字' },
      { tool_calls: [{ index: 0, id: 'toolu_1', type: 'function', function: { name: 'read_file', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] },
      { tool_calls: [{ index: 1, id: 'toolu_2', type: 'function', function: { name: 'read_file', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      {},
    ]);
    expect(told.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('is the same wherever its bytes are divided', () => {
    const whole = streamed(request, [spoken]);
    for (const pieces of everySplit(spoken)) expect(streamed(request, pieces)).toBe(whole);
  });

  test('has no usage for a client that asked for none', () => {
    expect(streamed(translate(way, { ...plain, stream: true }), [spoken])).not.toContain('usage');
  });

  test('takes an input that stands in the start of its block', () => {
    const given = [begin, start(0, { type: 'tool_use', id: 't', name: 'read_file', input: { a: 1 } }), stop(0)];
    const told = streamed(request, [streamOf([...given, ...finish('tool_use', {})], true)]);
    expect(told).toContain('{"arguments":"{\\"a\\":1}"}');
  });

  test('that breaks off has no end', () => {
    const told = streamed(request, [streamOf([begin, start(0, { type: 'text', text: 'So' })], true)]);
    expect(told).not.toContain('[DONE]');
    expect(told).toContain('So');
  });

  test('with an error in it has it in the words of the client', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const told = dataOf(streamed(request, [streamOf([begin, { type: 'error', error }], true)]));
    expect(told.at(-1)).toEqual({
      error: { message: 'Overloaded', type: 'server_error', param: null, code: 'server_overloaded' },
    });
  });

  test('that begins twice is told once', () => {
    const told = streamed(request, [
      streamOf([begin, begin, start(0, { type: 'text', text: 'So' }), ...finish('end_turn', {})], true),
    ]);
    expect(told.match(/"role"/g)).toHaveLength(1);
  });

  test('that begins again after content is an error', () => {
    const told = streamed(request, [streamOf([begin, start(0, { type: 'text', text: 'So' }), begin], true)]);
    expect(dataOf(told).at(-1)).toMatchObject({ error: { code: 'upstream_stream_broken' } });
  });
});

describe('reasoning', () => {
  const answer = answered(translate(way, plain), message) as unknown as { choices: [{ message: Json }] };
  const history = [user, answer.choices[0].message, { role: 'tool', tool_call_id: 'toolu_1', content: 'A' }];

  test('comes back unchanged to the model that has sealed it', () => {
    expect(sent(way, { ...plain, messages: history }).messages).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
          { type: 'redacted_thinking', data: 'Rx==' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use' },
        ],
      },
      {},
    ]);
  });

  test('is left out for another model, and told', () => {
    const asked = { ...plain, messages: history };
    expect(JSON.stringify(sent(on('claude-opus-5'), asked))).not.toContain('Hm.');
    expect(lossesOf(on('claude-opus-5'), asked)).toEqual([
      'dropped messages[1].reasoning_details[0]: foreign-reasoning',
      'dropped messages[1].reasoning_details[1]: foreign-reasoning',
    ]);
  });

  test('is left out altogether after the provider has refused it', () => {
    const translator = translatorOf('openai-chat', 'anthropic-messages');
    const asked = translator.read(
      Buffer.from(JSON.stringify({ ...plain, messages: history, reasoning_effort: 'high' })),
    );
    const origin = { provider: 'provider', model: way.model, account: 'account' };
    const request = translator.request(asked, { model: way.model, origin, withoutReasoning: true });
    expect(JSON.parse(request.body.toString())).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(request.body.toString()).not.toContain('Ev==');
    expect(request.losses.map(lineOf)).toContain('dropped messages[1].reasoning_details[0]: foreign-reasoning');
  });
});
