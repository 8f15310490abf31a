/**
 * Clients of all APIs with models that Bedrock serves through Converse. Source: Amazon Bedrock API reference,
 * "Converse".
 */
import { describe, expect, test } from 'vitest';
import { answerWith, eventsOf, reasoned, toolUse } from '../../../support/strict-bedrock.ts';
import { complaintsOf } from './strict-upstreams.ts';
import { answered, dataOf, type Json, lossesOf, sent, streamed, streamOf, translate, type Way } from './translating.ts';

const nova = 'us.amazon.nova-pro-v1:0';
const oss = 'openai.gpt-oss-120b-1:0';
const llama = 'meta.llama3-3-70b-instruct-v1:0';
const fromChat = (model = oss): Way => ({ from: 'openai-chat', to: 'bedrock-converse', model });
const fromClaude = (model = oss): Way => ({ from: 'anthropic-messages', to: 'bedrock-converse', model });

const user = { role: 'user', content: 'Hello' };
const call = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } };
const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'read', parameters } }];
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'call_1', content: 'A' };
const loop = [user, called, result];
const toolSpec = (name: string) => ({ toolSpec: { name } });

describe('a request', () => {
  test.each<[string, string, Json, Json]>([
    [
      'has instructions, text and limits',
      oss,
      { messages: [{ role: 'system', content: 'Be brief.' }, user], max_tokens: 9, temperature: 1.5, stop: 'END' },
      {
        system: [{ text: 'Be brief.' }],
        messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
        inferenceConfig: { maxTokens: 9, temperature: 1, stopSequences: ['END'] },
      },
    ],
    [
      'has calls and results',
      oss,
      { messages: loop, tools },
      {
        messages: [
          { role: 'user' },
          { role: 'assistant', content: [toolUse('call_1', 'read', { path: 'a' })] },
          { role: 'user', content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'A' }] } }] },
        ],
        toolConfig: { tools: [{ toolSpec: { name: 'read', inputSchema: { json: parameters } } }] },
      },
    ],
    [
      'names a tool',
      nova,
      { messages: [user], tools, tool_choice: { type: 'function', function: { name: 'read' } } },
      { toolConfig: { toolChoice: { tool: { name: 'read' } } } },
    ],
    [
      'offers only the tool that has to be called, where none can be named',
      'mistral.mistral-large-2407-v1:0',
      {
        messages: [user],
        tools: [...tools, { type: 'function', function: { name: 'write' } }],
        tool_choice: { type: 'function', function: { name: 'read' } },
      },
      { toolConfig: { tools: [toolSpec('read')], toolChoice: { any: {} } } },
    ],
    [
      'asks in the prompt for a tool, where none can be forced',
      llama,
      { messages: [user], tools, tool_choice: 'required' },
      { system: [{ text: 'Answer by calling one of the tools.' }], toolConfig: { tools: [toolSpec('read')] } },
    ],
    [
      'gives Nova the schema alone that it takes',
      nova,
      {
        messages: [user],
        tools: [
          { type: 'function', function: { name: 'read', parameters: { ...parameters, $schema: 'x', $defs: {} } } },
        ],
      },
      { toolConfig: { tools: [{ toolSpec: { inputSchema: { json: parameters } } }] } },
    ],
    [
      'asks gpt-oss to think hard',
      oss,
      { messages: [user], reasoning_effort: 'high' },
      { additionalModelRequestFields: { reasoning_effort: 'high' } },
    ],
    [
      'asks Nova 2 to think',
      'amazon.nova-2-lite-v1:0',
      { messages: [user], reasoning_effort: 'medium' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } } },
    ],
    [
      'tells a model without system prompts in the first message',
      'mistral.mistral-7b-instruct-v0:2',
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
      { messages: [{ role: 'user', content: [{ text: 'Be brief.' }, { text: 'Hello' }] }] },
    ],
    [
      'gives calls of Mistral the ids that it takes',
      'mistral.ministral-3-8b-instruct',
      { messages: loop, tools },
      { messages: [{}, { content: [{ toolUse: { toolUseId: expect.stringMatching(/^[a-zA-Z0-9]{9}$/) } }] }, {}] },
    ],
    [
      'asks for no more tokens than the model writes',
      llama,
      { messages: [user], max_tokens: 32_000 },
      { inferenceConfig: { maxTokens: 8192 } },
    ],
  ])('%s', (_name, model, body, expected) => {
    const request = sent(fromChat(model), { model: 'm', ...body });
    expect(request).toMatchObject(expected);
    expect(complaintsOf('bedrock-converse', request)).toEqual([]);
  });

  test('names documents as Bedrock takes them, each differently, beside a text', () => {
    const pdf = (title: string) => ({
      type: 'document',
      title,
      source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    });
    const content = [pdf('Q3  report_v2.pdf'), pdf('Q3 report v2 pdf'), pdf('報告')];
    const request = sent(fromClaude(), { model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] });
    expect(request.messages).toMatchObject([
      {
        content: [
          { document: { name: 'Q3 report v2 pdf', format: 'pdf', source: { bytes: 'AAAA' } } },
          { document: { name: 'Q3 report v2 pdf 2' } },
          { document: { name: 'document' } },
          { text: 'See the document.' },
        ],
      },
    ]);
    expect(complaintsOf('bedrock-converse', request)).toEqual([]);
  });

  test('keeps images in tool results, and says that a tool failed', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [image], is_error: true }] },
    ];
    const asked = { model: 'm', max_tokens: 9, messages, tools: [{ name: 'read', input_schema: { type: 'object' } }] };
    expect(sent(fromClaude(), asked).messages).toMatchObject([
      {},
      {},
      {
        content: [
          { toolResult: { content: [{ image: { format: 'png', source: { bytes: 'AAAA' } } }], status: 'error' } },
        ],
      },
    ]);
  });

  test('is refused by the name of the field for an image that Bedrock would have to fetch', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(() => sent(fromChat(), { model: 'm', messages: [{ role: 'user', content: [image] }] })).toThrow(
      /messages\[0\]\.content\[0\]/,
    );
  });

  test('tells what does not cross', () => {
    const body = { model: 'm', messages: [user], top_k: 5, seed: 1, tools, parallel_tool_calls: false };
    expect(lossesOf(fromChat(), body)).toEqual([
      'dropped parallel_tool_calls: no-equal',
      'dropped top_k: no-equal',
      'dropped seed: no-equal',
    ]);
  });
});

const content = [reasoned('Hm.', 'sig='), { text: 'Hi you' }, toolUse('tooluse_1', 'read', { path: 'a' })];

describe('an answer', () => {
  const asked = { model: 'm', messages: [user], tools };

  test('has thought, text, call, stop and usage', () => {
    const told = answered(translate(fromChat(), asked), answerWith(content, 'tool_use'));
    expect(told).toMatchObject({
      choices: [
        {
          message: { reasoning_content: 'Hm.', content: 'Hi you', tool_calls: [{ id: 'tooluse_1', type: 'function' }] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 23, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 11 } },
    });
  });

  test.each([
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['guardrail_intervened', 'refusal'],
    ['content_filtered', 'refusal'],
    ['model_context_window_exceeded', 'model_context_window_exceeded'],
    ['something_new', 'end_turn'],
  ])('that stops for %s stops for %s', (reason, told) => {
    const request = translate(fromClaude(), { model: 'm', max_tokens: 9, messages: [user] });
    expect(answered(request, answerWith([{ text: 'Hi' }], reason)).stop_reason).toBe(told);
  });

  test('has its cache reads and writes in buckets of their own', () => {
    const usage = {
      inputTokens: 5,
      outputTokens: 7,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 11,
      cacheDetails: [
        { ttl: '5m', inputTokens: 7 },
        { ttl: '1h', inputTokens: 4 },
      ],
    };
    const request = translate(fromClaude(), { model: 'm', max_tokens: 9, messages: [user] });
    expect(answered(request, { ...answerWith([{ text: 'Hi' }]), usage }).usage).toMatchObject({
      input_tokens: 5,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 11,
      cache_creation: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 4 },
      output_tokens: 7,
    });
  });

  test('whose tool call Bedrock could not read is an error', () => {
    const request = translate(fromChat(), asked);
    expect(() => answered(request, answerWith([{ text: 'Hi' }], 'malformed_tool_use'))).toThrow('upstream_malformed');
  });

  test('comes back with its reasoning, to a model that takes it', () => {
    const body = { model: 'm', max_tokens: 9, messages: [user], tools: [{ name: 'read', input_schema: parameters }] };
    for (const [model, expected] of [
      [oss, content],
      ['deepseek.v3-v1:0', content.slice(1)],
    ] as const) {
      const first = answered(translate(fromClaude(model), body), answerWith(content, 'tool_use'));
      const results = [{ type: 'tool_result', tool_use_id: 'tooluse_1', content: 'A' }];
      const turns = [user, { role: 'assistant', content: first.content }, { role: 'user', content: results }];
      expect(sent(fromClaude(model), { ...body, messages: turns }).messages).toMatchObject([
        {},
        { content: expected },
        {},
      ]);
    }
  });
});

describe('an answer in a schema', () => {
  const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 1 } }, required: ['age'] };
  const format = { type: 'json_schema', json_schema: { name: 'person', schema, strict: true } };
  const body = { model: 'm', messages: [user], response_format: format };

  test('is asked of a model that keeps to schemas in its own field', () => {
    const request = sent(fromChat(), { ...body, tools });
    const { textFormat } = request.outputConfig as { textFormat: { structure: { jsonSchema: Json } } };
    expect(textFormat).toMatchObject({ type: 'json_schema', structure: { jsonSchema: { name: 'person' } } });
    expect(JSON.parse(String(textFormat.structure.jsonSchema.schema))).toEqual({
      type: 'object',
      properties: { age: { type: 'integer', description: '{minimum: 1}' } },
      required: ['age'],
      additionalProperties: false,
    });
    expect(request.toolConfig).toMatchObject({ tools: [toolSpec('read')] });
    expect(complaintsOf('bedrock-converse', request)).toEqual([]);
    expect(lossesOf(fromChat(), body)).toEqual(['emulated response_format: schema-keyword']);
  });

  test('is the input of a tool that another model has to call, and its text for the client', () => {
    const way = fromChat(nova);
    expect(lossesOf(way, body)).toContain('emulated response_format: as-tool');
    expect(sent(way, body)).toMatchObject({ toolConfig: { toolChoice: { any: {} } } });
    expect(sent(way, body)).not.toHaveProperty('outputConfig');
    const given = [toolUse('tooluse_1', 'answer_in_format', { age: 3 })];
    const whole = answered(translate(way, body), answerWith(given, 'tool_use'));
    expect(whole.choices).toMatchObject([{ message: { content: '{"age":3}' }, finish_reason: 'stop' }]);
    const events = streamOf(eventsOf(given, 'tool_use'), false);
    const told = dataOf(streamed(translate(way, { ...body, stream: true }), [events]));
    const chunks = told.flatMap((data) =>
      data === '[DONE]' ? [] : [data as { choices: { delta: Json; finish_reason: string | null }[] }],
    );
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('{"age":3}');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('is asked in the prompt of a model that has neither', () => {
    expect(lossesOf(fromChat(llama), body)).toContain('emulated response_format: in-prompt');
    expect(JSON.stringify(sent(fromChat(llama), body).system)).toContain('JSON of this schema');
  });

  test('is a tool’s, whose input keeps to it', () => {
    const strict = {
      ...body,
      response_format: undefined,
      tools: [{ type: 'function', function: { name: 'read', parameters: schema, strict: true } }],
    };
    const request = sent(fromChat(), strict);
    expect(request).toMatchObject({ toolConfig: { tools: [{ toolSpec: { strict: true } }] } });
    expect(complaintsOf('bedrock-converse', request)).toEqual([]);
  });
});
