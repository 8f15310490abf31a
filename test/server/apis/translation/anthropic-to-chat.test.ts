/**
 * A client of Anthropic's API with a chat provider. Sources: Anthropic's API reference ("Create a Message", "Streaming
 * messages") and OpenAI's ("Create chat completion", "Streaming events").
 */
import { describe, expect, test } from 'vitest';
import { answered, type Json, lineOf, lossesOf, sent, translate, type Way } from './translating.ts';

const way: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'llama-3.3-70b-versatile' };
const toGpt: Way = { ...way, model: 'gpt-5.4' };
const user = { role: 'user', content: 'Hello' };
const plain = { model: 'claude-opus-5', max_tokens: 500, messages: [user] };
const tool = { name: 'read_file', description: 'Reads a file', input_schema: { type: 'object', properties: {} } };

const requests: Record<string, [asked: Json, expected: Json]> = {
  'a text': [plain, { model: way.model, max_tokens: 500, messages: [user] }],
  'system blocks': [
    {
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
    },
    { messages: [{ role: 'system', content: 'One.\n\nTwo.' }, user] },
  ],
  'sampling and stops': [
    { temperature: 0.5, top_p: 0.9, stop_sequences: ['END'] },
    { temperature: 0.5, top_p: 0.9, stop: ['END'] },
  ],
  'a stream': [{ stream: true }, { stream: true, stream_options: { include_usage: true } }],
  tools: [
    { tools: [tool] },
    {
      tools: [
        {
          type: 'function',
          function: { name: 'read_file', description: 'Reads a file', parameters: { type: 'object', properties: {} } },
        },
      ],
    },
  ],
  'any tool': [{ tools: [tool], tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
  'a named tool, and only one call': [
    { tools: [tool], tool_choice: { type: 'tool', name: 'read_file', disable_parallel_tool_use: true } },
    { tool_choice: { type: 'function', function: { name: 'read_file' } }, parallel_tool_calls: false },
  ],
  'a format': [
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    },
  ],
  'calls and results': [
    {
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a' } },
            { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'B' }], is_error: true },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    },
    {
      messages: [
        user,
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            { id: 'toolu_2', type: 'function', function: { name: 'read_file', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'A' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: B' },
        { role: 'user', content: 'And now?' },
      ],
    },
  ],
  'pictures and documents': [
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            {
              type: 'document',
              title: 'a.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Words' } },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
            { type: 'text', text: 'Words' },
          ],
        },
      ],
    },
  ],
};

describe('a request', () => {
  test.each(Object.entries(requests))('carries %s', (_name, [asked, expected]) => {
    expect(sent(way, { ...plain, ...asked })).toMatchObject(expected);
  });

  test('is the same bytes each time', () => {
    const [asked] = requests['calls and results'] ?? [];
    expect(translate(way, { ...plain, ...asked }).body).toEqual(translate(way, { ...plain, ...asked }).body);
  });

  test('has the names of parameters that the model knows', () => {
    const asked = { ...plain, output_config: { effort: 'max' }, metadata: { user_id: '{"session_id":"s-1"}' } };
    expect(sent(toGpt, asked)).toMatchObject({
      max_completion_tokens: 500,
      reasoning_effort: 'xhigh',
      prompt_cache_key: 's-1',
    });
    expect(sent(way, asked)).not.toHaveProperty('reasoning_effort');
  });

  test('tells what it loses, in the words of the client', () => {
    const asked = {
      ...plain,
      top_k: 5,
      context_management: {},
      unheard_of: 1,
      output_config: { effort: 'high' },
      system: [{ type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } }],
      tools: [
        { type: 'web_search_20260209', name: 'web_search' },
        { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
        { ...tool, defer_loading: true },
      ],
    };
    expect(lossesOf(way, asked).sort()).toEqual([
      'dropped context_management: no-equal',
      'dropped system[0].cache_control: no-equal',
      'dropped thinking: model-takes-none',
      'dropped tools[0]: provider-tool',
      'dropped tools[1]: provider-tool',
      'dropped tools[2].defer_loading: no-equal',
      'dropped top_k: no-equal',
      'dropped unheard_of: unknown-field',
    ]);
  });

  test.each([
    [{ messages: 'x' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [{ role: 'nobody', content: 'x' }] }, 'messages[0].role'],
    [{ max_tokens: '5' }, 'max_tokens'],
    [{ max_tokens: null }, 'max_tokens'],
    [{ tools: [{ name: 'x', input_schema: 1 }] }, 'tools[0].input_schema'],
    [{ tool_choice: { type: 'all' } }, 'tool_choice.type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages[0].content[0]',
    ],
  ])('that is wrong is refused by the name of its field: %j', (wrong, param) => {
    expect(() => translate(way, { ...plain, ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid_value', param }),
    );
  });

  test('may have null for what is absent', () => {
    const nulls = { system: null, tools: null, tool_choice: null, temperature: null, thinking: null, metadata: null };
    expect(lossesOf(way, { ...plain, ...nulls })).toEqual([]);
  });
});

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'llama',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":1.0}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 30 },
  },
};

describe('a whole answer', () => {
  test('has its thoughts, text, calls, reason and disjoint usage', () => {
    expect(answered(translate(way, { ...plain, tools: [tool] }), completion)).toMatchObject({
      id: 'msg_chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/^c2wxA/) },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 50 },
    });
  });

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['unheard_of', 'end_turn'],
  ])('that stops with %s ends with %s', (reason, expected) => {
    const whole = { ...completion, choices: [{ index: 0, message: { content: 'x' }, finish_reason: reason }] };
    expect(answered(translate(way, plain), whole).stop_reason).toBe(expected);
  });

  test('with arguments that broke off is an error', () => {
    const call = { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{"pa' } };
    const broken = { choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] };
    const result = translate(way, plain).whole(Buffer.from(JSON.stringify(broken)), { createdAt: 1 });
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining('read_file') } });
  });

  test.each(['', 'null', '[]', '{"object":"list"}', '<html>'])('is none: %j', (body) => {
    expect(translate(way, plain).whole(Buffer.from(body), { createdAt: 1 })).toBeNull();
  });
});

test('what an answer loses is told too', () => {
  const request = translate({ ...way, from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-5' }, plain);
  const events = request.events({ createdAt: 1 });
  const block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  events.push({ name: '', data: '', value: { type: 'content_block_start', index: 0, content_block: block } });
  expect(events.losses.map(lineOf)).toEqual(['dropped web_search_tool_result: provider-item']);
});
