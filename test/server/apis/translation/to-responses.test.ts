/**
 * Clients of chat and Claude with a provider of OpenAI's Responses. Source: OpenAI's API reference ("Create a model
 * response", "Streaming events").
 */
import { describe, expect, test } from 'vitest';
import {
  answered,
  dataOf,
  everySplit,
  type Json,
  lossesOf,
  sent,
  streamed,
  streamOf,
  translate,
  type Way,
} from './translating.ts';

const fromChat: Way = { from: 'openai-chat', to: 'openai-responses', model: 'gpt-5.4' };
const fromClaude: Way = { from: 'anthropic-messages', to: 'openai-responses', model: 'gpt-5.4' };

const done = (type: string, members: Json) => ({ type: `response.${type}`, ...members });
const message = { id: 'msg_1', type: 'message', content: [] };
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'gAAAA',
};
const called = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"a":1}' };
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 5 },
};
const whole = { id: 'resp_1', object: 'response', status: 'completed', output: [reasoning, called], usage };

const responseStream = streamOf(
  [
    done('created', { response: { id: 'resp_1' } }),
    done('in_progress', { response: { id: 'resp_1' } }),
    { type: 'keepalive' },
    done('output_item.added', { output_index: 0, item: { ...reasoning, summary: [] } }),
    done('reasoning_summary_text.delta', { output_index: 0, delta: 'Hm.' }),
    done('output_item.done', { output_index: 0, item: reasoning }),
    done('output_item.added', { output_index: 1, item: message }),
    done('output_text.delta', { output_index: 1, content_index: 0, delta: '漢字' }),
    done('output_item.done', { output_index: 1, item: message }),
    done('output_item.added', { output_index: 2, item: { ...called, arguments: '' } }),
    done('function_call_arguments.done', { output_index: 2, arguments: '{"a":1}' }),
    done('output_item.done', { output_index: 2, item: called }),
    done('completed', { response: whole }),
  ],
  true,
);

describe('an answer of Responses', () => {
  const tools = [{ type: 'function', function: { name: 'shell' } }];
  const chat = {
    model: 'best',
    messages: [{ role: 'user', content: 'x' }],
    tools,
    stream: true,
    stream_options: { include_usage: true },
  };
  const messages = {
    model: 'claude',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ name: 'shell' }],
  };

  test('becomes chunks of a chat', () => {
    const told = dataOf(streamed(translate(fromChat, chat), [responseStream])) as {
      choices: { delta: Json }[];
      usage?: Json;
    }[];
    expect(told.slice(0, -3).map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.encrypted', summary: 'Hm.', data: expect.any(String), index: 0 }] },
      { content: '漢字' },
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'shell', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
    ]);
    expect(told.at(-3)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(told.at(-2)?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 });
  });

  test('becomes blocks of a message', () => {
    const told = streamed(translate(fromClaude, messages), [responseStream]);
    expect(told).toContain('"stop_reason":"tool_use"');
    expect(told).toContain('"input_tokens":6,');
  });

  test('is the same wherever its bytes are divided', () => {
    for (const way of [translate(fromChat, chat), translate(fromClaude, messages)]) {
      const told = streamed(way, [responseStream]);
      for (const pieces of everySplit(responseStream)) expect(streamed(way, pieces)).toBe(told);
    }
  });

  test('that failed is an error', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' };
    const request = translate(fromChat, chat);
    expect(request.whole(Buffer.from(JSON.stringify({ ...whole, status: 'failed', error })), { createdAt: 1 })).toEqual(
      {
        ok: false,
        error: { type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down', status: 429 },
      },
    );
    const told = dataOf(streamed(request, [streamOf([done('failed', { response: { error } })], true)]));
    expect(told.at(-1)).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  test('gets its reasoning back from a client that echoes it, before the call it led to', () => {
    const request = translate(fromClaude, messages);
    const answer = answered(request, whole);
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'A' };
    const history = [
      ...messages.messages,
      { role: 'assistant', content: answer.content },
      { role: 'user', content: [result] },
    ];
    expect(sent(fromClaude, { ...messages, messages: history }).input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAAA' },
      { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'A' },
    ]);
  });
});

describe('a request to Responses', () => {
  test('keeps nothing there, and says what Responses takes for granted', () => {
    const tools = [{ type: 'function', function: { name: 'shell' } }];
    const messages = [
      { role: 'system', content: 'One.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image_url', image_url: { url: 'https://e.com/a.png' } },
        ],
      },
      { role: 'assistant', content: 'y' },
      { role: 'developer', content: 'Later.' },
      { role: 'user', content: 'z' },
    ];
    const asked = {
      model: 'm',
      messages,
      tools,
      max_tokens: 5,
      stop: 'END',
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
    };
    expect(sent(fromChat, asked)).toEqual({
      model: 'gpt-5.4',
      instructions: 'One.',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'x' },
            { type: 'input_image', image_url: 'https://e.com/a.png', detail: 'auto' },
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'y' }] },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Later.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'z' }] },
      ],
      tools: [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} }, strict: false }],
      max_output_tokens: 16,
      text: { format: { type: 'json_object' } },
      reasoning: { effort: 'low', summary: 'auto' },
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    expect(lossesOf(fromChat, asked)).toEqual([
      'dropped stop: no-equal',
      'emulated max_completion_tokens: out-of-range',
    ]);
  });

  test('has custom tools as they are, and their results by their type', () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'apply_patch', input: '***' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'Done' },
    ];
    const tools = [
      {
        type: 'custom',
        custom: { name: 'apply_patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
      },
    ];
    expect(sent(fromChat, { model: 'm', messages, tools })).toMatchObject({
      input: [
        {},
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '***' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'Done' },
      ],
      tools: [{ type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
    });
  });
});
