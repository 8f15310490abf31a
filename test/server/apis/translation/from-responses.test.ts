/**
 * Clients of OpenAI's Responses with chat and Claude providers. Sources: OpenAI's API reference ("Create a model
 * response", "Streaming events"), and the requests of Codex.
 */
import { describe, expect, test } from 'vitest';
import {
  answered,
  dataOf,
  everySplit,
  itemEvents,
  type Json,
  lossesOf,
  sent,
  streamed,
  streamOf,
  translate,
  translatorOf,
  type Way,
} from './translating.ts';

const toChat: Way = { from: 'openai-responses', to: 'openai-chat', model: 'llama-3.3-70b' };
const toClaude: Way = { from: 'openai-responses', to: 'anthropic-messages', model: 'claude-opus-4-6' };

const shell = { type: 'function', name: 'shell', parameters: { type: 'object', properties: {} }, strict: false };
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Patches.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};
/** A request of Codex, shortened. */
const codex = {
  model: 'gpt-5.4',
  instructions: 'You are Codex.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAAA' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: '*** Begin' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
  ],
  tools: [shell, patch, { type: 'web_search' }, { type: 'namespace', name: 'git', tools: [{ ...shell, name: 'log' }] }],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'session-1',
};

describe('a request of Responses', () => {
  test('becomes a chat', () => {
    expect(sent(toChat, codex)).toMatchObject({
      messages: [
        { role: 'system', content: 'You are Codex.\n\nBe brief.' },
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'call_1', function: { name: 'shell', arguments: '{"command":["ls"]}' } },
            { id: 'call_2', function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Done' },
      ],
      tools: [
        { function: { name: 'shell' } },
        { function: { name: 'apply_patch', description: expect.stringContaining('start: "x"') } },
        { function: { name: 'git__log' } },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      stream: true,
    });
    expect(lossesOf(toChat, codex).sort()).toEqual([
      'carried tools[3].tools[0].name: renamed',
      'dropped input[2]: foreign-reasoning',
      'dropped prompt_cache_key: no-equal',
      'dropped reasoning: model-takes-none',
      'dropped tools[2]: provider-tool',
      'emulated tools[1]: as-function',
    ]);
  });

  test('becomes messages of a Claude', () => {
    expect(sent(toClaude, codex)).toMatchObject({
      system: [{ text: 'You are Codex.' }, { text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'Look.' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'shell', input: { command: ['ls'] } },
            { type: 'tool_use', id: 'call_2', name: 'apply_patch', input: { input: '*** Begin' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }, { type: 'tool_result' }] },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      output_config: { effort: 'medium' },
      thinking: { type: 'adaptive', display: 'summarized' },
    });
  });

  test('may be one text', () => {
    expect(sent(toChat, { model: 'x', input: 'Hello' }).messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  test('takes the tools that its client runs for functions', () => {
    const input = [
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] }, status: 'completed' },
      { type: 'local_shell_call_output', call_id: 'c', output: 'a.txt' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    ];
    expect(sent(toChat, { model: 'x', input }).messages).toMatchObject([
      { tool_calls: [{ id: 'c', function: { name: 'local_shell', arguments: '{"type":"exec","command":["ls"]}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'a.txt' },
    ]);
    expect(lossesOf(toChat, { model: 'x', input })).toContain('dropped input[2]: provider-item');
  });

  test('keeps pictures of results where the upstream takes them', () => {
    const output = [
      { type: 'input_text', text: 'See:' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ];
    const input = [
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '' },
      { type: 'function_call_output', call_id: 'c', output },
    ];
    expect(JSON.stringify(sent(toClaude, { model: 'x', input }))).toContain('"type":"image"');
    expect(sent(toChat, { model: 'x', input }).messages).toMatchObject([
      {},
      { role: 'tool', content: 'See:' },
      { role: 'user', content: [{ text: 'from c:' }, { type: 'image_url' }] },
    ]);
  });

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_not_found', 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'invalid_value', 'conversation'],
    [{ background: true }, 'invalid_value', 'background'],
    [{ input: [{ type: 'item_reference', id: 'x' }] }, 'invalid_value', 'input[0]'],
    [{ input: [] }, 'invalid_value', 'input'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'invalid_value',
      'input[0].content[0].image_url',
    ],
  ])('that hangs on what only OpenAI keeps, or is wrong, is refused: %j', (asked, code, param) => {
    expect(() => sent(toChat, { ...codex, ...asked })).toThrow(expect.objectContaining({ code, param }));
  });
});

const chunk = (delta: Json, finish: string | null = null) => ({
  id: 'c1',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (index: number, id: string, called: Json) => chunk({ tool_calls: [{ index, id, function: called }] });

const chatStream = streamOf(
  [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm.' }),
    chunk({ content: 'Grüße' }),
    call(0, 'call_3', { name: 'apply_patch', arguments: '{"input":' }),
    call(0, 'call_3', { arguments: '"*** \\"Begin\\""}' }),
    call(1, 'call_4', { name: 'git__log', arguments: '{}' }),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } },
    '[DONE]',
  ],
  false,
);

describe('a client of Responses', () => {
  const request = translate(toChat, codex);

  test('gets a stream of items, and all of them at its end', () => {
    const events = dataOf(streamed(request, [chatStream])) as (Json & { response: Json })[];
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      ...itemEvents('reasoning_summary_text'),
      ...itemEvents('output_text'),
      ...itemEvents('custom_tool_call_input'),
      ...itemEvents('function_call_arguments'),
      'completed',
    ]);
    expect(events.at(-1)?.response).toMatchObject({
      id: 'resp_c1',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ text: 'Hm.' }], encrypted_content: expect.any(String) },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Grüße' }] },
        { type: 'custom_tool_call', call_id: 'call_3', name: 'apply_patch', input: '*** "Begin"' },
        { type: 'function_call', call_id: 'call_4', name: 'log', namespace: 'git', arguments: '{}' },
      ],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    });
  });

  test('gets the same wherever the bytes are divided', () => {
    const whole = streamed(request, [chatStream]);
    for (const pieces of everySplit(chatStream)) expect(streamed(request, pieces)).toBe(whole);
  });

  test('gets the same items whole as in a stream', () => {
    const block = { type: 'tool_use', id: 'toolu_1', name: 'shell', input: {} };
    const content = [{ type: 'thinking', thinking: 'Hm.', signature: 'E' }, { type: 'text', text: 'I look.' }, block];
    const message = { id: 'msg_1', content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } };
    const way = translate(toClaude, codex);
    const told = way.wholeAsEvents(Buffer.from(JSON.stringify(message)), { createdAt: 1_790_000_000 });
    const last = dataOf(told?.toString() ?? '').at(-1) as { response: Json };
    expect(last.response).toEqual(answered(way, message));
  });

  test.each([
    ['length', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['content_filter', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['stop', { status: 'completed', incomplete_details: null }],
  ])('is told of the end %s', (reason, expected) => {
    expect(answered(request, { choices: [{ message: { content: 'x' }, finish_reason: reason }] })).toMatchObject(
      expected,
    );
  });

  test('is told of an error by its code', () => {
    const error = {
      message: "This model's maximum context length is 10 tokens. However, your messages resulted in 20 tokens.",
    };
    const told = dataOf(streamed(request, [streamOf([{ error }], false)]));
    expect(told.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'context_length_exceeded' } },
    });
  });
});

test('one request is translated for several upstreams', () => {
  const body = Buffer.from(JSON.stringify(codex));
  const asked = translatorOf('openai-responses', 'openai-chat').read(body);
  const origin = { provider: 'p', model: 'claude-opus-5', account: 'a' };
  const other = translatorOf('openai-responses', 'anthropic-messages').request(asked, {
    model: 'claude-opus-5',
    origin,
  });
  expect(JSON.parse(other.body.toString())).toEqual(sent({ ...toClaude, model: 'claude-opus-5' }, codex));
});

test('a call that OpenAI’s tool search has put into a namespace keeps the name of the tool that is offered', () => {
  const call = (name: string, namespace: string, id: string) => [
    { type: 'function_call', call_id: id, name, namespace, arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: '1' },
  ];
  const body = {
    model: 'm',
    tools: [
      { type: 'function', name: 'get_rate', parameters: {} },
      { type: 'namespace', name: 'bank', tools: [{ type: 'function', name: 'get_rate', parameters: {} }] },
    ],
    input: [{ role: 'user', content: 'x' }, ...call('get_rate', 'get_rate', 'a'), ...call('get_rate', 'bank', 'b')],
  };
  for (const to of ['openai-chat', 'anthropic-messages', 'gemini-generate'] as const) {
    const text = JSON.stringify(sent({ from: 'openai-responses', to, model: 'm' }, body));
    expect(text).not.toContain('get_rate__get_rate');
    expect(text.match(/"bank__get_rate"/g)?.length).toBeGreaterThanOrEqual(2);
  }
});
