/**
 * Requests of OpenAI's chat to a Claude. Sources: OpenAI's API reference ("Create chat completion") and Anthropic's
 * ("Create a Message"); for what each model accepts, "Migrating to Claude …".
 */
import { describe, expect, test } from 'vitest';
import { answered, type Json, lossesOf, sent, translate, translatorOf, type Way } from './translating.ts';

const way: Way = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-6' };
const on = (model: string): Way => ({ ...way, model });
const user = { role: 'user', content: 'Hello' };
const plain = { model: 'best', messages: [user] };
const greeting = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
const read = { type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: {} } } };
const call = (id: string, given: string) => ({
  id,
  type: 'function',
  function: { name: 'read_file', arguments: given },
});

const requests: Record<string, [asked: Json, expected: Json]> = {
  'a text': [{}, { model: way.model, max_tokens: 128_000, messages: [greeting], cache_control: { type: 'ephemeral' } }],
  'all leading instructions': [
    { messages: [{ role: 'system', content: 'One.' }, { role: 'developer', content: 'Two.' }, user] },
    {
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
      messages: [greeting],
    },
  ],
  'a temperature above 1': [{ temperature: 1.7 }, { temperature: 1 }],
  stops: [{ stop: ['END', '\n'] }, { stop_sequences: ['END'] }],
  'the user': [
    { user: 'u-1', service_tier: 'default' },
    { metadata: { user_id: 'u-1' }, service_tier: 'standard_only' },
  ],
  'a required tool': [{ tools: [read], tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
  'one call at a time': [
    { tools: [read], parallel_tool_calls: false },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  'a tool without parameters': [
    { tools: [{ type: 'function', function: { name: 'stop' } }] },
    { tools: [{ name: 'stop', input_schema: { type: 'object', properties: {} } }] },
  ],
  'a choice of tools': [
    {
      tools: [read, { type: 'function', function: { name: 'other' } }],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [read] } },
    },
    { tools: [{ name: 'read_file' }], tool_choice: { type: 'any' } },
  ],
  'a custom tool': [
    { tools: [{ type: 'custom', custom: { name: 'patch', description: 'Patches.' } }] },
    { tools: [{ name: 'patch', description: 'Patches.', input_schema: { required: ['input'] } }] },
  ],
  'an effort': [{ reasoning_effort: 'xhigh' }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  'no reasoning': [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  'a format': [
    {
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object', properties: {} } } },
    },
    {
      output_config: {
        format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
      },
    },
  ],
  'pictures and documents': [
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See:' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
              title: 'a.pdf',
            },
          ],
        },
      ],
    },
  ],
  'calls and results': [
    {
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('call_1', '{"n":12345678901234567890}'), call('call_2', '')],
        },
        { role: 'tool', tool_call_id: 'call_2', content: 'B' },
        { role: 'tool', tool_call_id: 'call_1', content: 'A' },
        { role: 'user', content: 'And now?' },
      ],
    },
    {
      messages: [
        greeting,
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'read_file', input: { n: 12345678901234567000 } },
            { type: 'tool_use', id: 'call_2', name: 'read_file', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'A' }] },
            { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'B' }] },
            { type: 'text', text: 'And now?' },
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

  test('keeps the numbers of arguments as they were written', () => {
    const [asked] = requests['calls and results'] ?? [];
    expect(translate(way, { ...plain, ...asked }).body.toString()).toContain('"input":{"n":12345678901234567890}');
  });

  test('leaves out what the model does not take, and tells it', () => {
    const asked = {
      ...plain,
      temperature: 0.2,
      top_p: 0.5,
      seed: 1,
      logit_bias: { 1: 1 },
      prediction: {},
      presence_penalty: 1,
    };
    expect(sent(on('claude-opus-5-5'), asked)).not.toHaveProperty('temperature');
    expect(lossesOf(on('claude-opus-5-5'), asked).sort()).toEqual([
      'dropped logit_bias: no-equal',
      'dropped prediction: no-equal',
      'dropped presence_penalty: no-equal',
      'dropped seed: no-equal',
      'dropped temperature: model-takes-none',
      'dropped top_p: model-takes-none',
    ]);
  });

  test('leaves out the temperature of a Claude 4.6 that thinks (modelparams.dev#214)', () => {
    const claude = on('claude-sonnet-4-6');
    const asked = { ...plain, temperature: 0.2, reasoning_effort: 'high' };
    expect(sent(claude, asked)).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(sent(claude, asked)).not.toHaveProperty('temperature');
    expect(lossesOf(claude, asked)).toEqual(['dropped temperature: model-takes-none']);
    expect(sent(claude, { ...plain, temperature: 0.2 })).toMatchObject({ temperature: 0.2 });
  });

  test.each([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }] }] },
      'messages[0].content[0]',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      'messages[0].content[0]',
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages[0].content[0].type'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.name'],
    [{ stop: [1] }, 'stop[0]'],
    [{ temperature: '1' }, 'temperature'],
  ])('is refused by the name of the field that nothing stands for: %j', (asked, param) => {
    expect(() => sent(way, { ...plain, ...asked })).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });

  test.each(['', '{', '\u0000', '{"model":'])('that is no JSON is refused: %j', (text) => {
    const body = Buffer.from(text);
    const translator = () => translate(way, plain) && requestOf(body);
    expect(translator).toThrow(expect.objectContaining({ code: 'malformed_json' }));
  });

  test('to a model that takes no forced choice asks in words', () => {
    const asked = { ...plain, tools: [read], tool_choice: { type: 'function', function: { name: 'read_file' } } };
    expect(sent(on('claude-opus-5-5'), asked)).toMatchObject({
      tool_choice: { type: 'auto' },
      system: [{ text: 'Answer by calling the tool read_file.' }],
    });
    expect(lossesOf(on('claude-opus-5-5'), asked)).toEqual(['emulated tool_choice: in-prompt']);
  });

  test('to a model with thinking budgets makes room for them', () => {
    expect(sent(on('claude-sonnet-4-5'), { ...plain, reasoning_effort: 'low', max_tokens: 500 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 1524,
    });
  });

  test.each(['claude-opus-4-1', 'claude-sonnet-4-20250514'])(
    'tells that %s does not keep to the schema of a tool',
    (model) => {
      const strict = { ...plain, tools: [{ ...read, function: { ...read.function, strict: true } }] };
      expect(lossesOf(on(model), strict)).toEqual(['dropped tools[].function.strict: model-takes-none']);
      expect(lossesOf(way, strict)).toEqual([]);
    },
  );

  test('with a forced tool does not think where the model takes only one of them', () => {
    const asked = { ...plain, tools: [read], tool_choice: 'required', reasoning_effort: 'high' };
    expect(sent(on('claude-sonnet-4-5'), asked)).toMatchObject({
      tool_choice: { type: 'any' },
      thinking: { type: 'disabled' },
    });
    expect(lossesOf(on('claude-sonnet-4-5'), asked)).toEqual(['emulated reasoning_effort: reasoning-off']);
  });

  test('goes on with an answer only where the model takes that', () => {
    const asked = { ...plain, messages: [user, { role: 'assistant', content: 'Once ' }] };
    expect(sent(on('claude-sonnet-4-5'), asked).messages).toMatchObject([{}, { content: [{ text: 'Once' }] }]);
    expect(sent(way, asked).messages).toMatchObject([{}, {}, { role: 'user', content: [{ text: 'Go on.' }] }]);
  });

  test('asks an older model for its format by a tool, whose arguments are the answer', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const asked = { ...plain, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const request = translate(on('claude-opus-4-1'), asked);
    expect(JSON.parse(request.body.toString())).toMatchObject({
      tools: [{ input_schema: schema }],
      tool_choice: { type: 'tool', name: 'answer_in_format' },
    });
    const block = { type: 'tool_use', id: 'toolu_1', name: 'answer_in_format', input: { a: 1 } };
    expect(answered(request, { content: [block], stop_reason: 'tool_use' })).toMatchObject({
      choices: [{ message: { content: '{"a":1}' }, finish_reason: 'stop' }],
    });
  });
});

function requestOf(body: Buffer): unknown {
  return translatorOf('openai-chat', 'anthropic-messages').read(body);
}
