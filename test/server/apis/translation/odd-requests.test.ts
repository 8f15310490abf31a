/** Requests with values of the wrong kind, some of which JavaScript cannot convert to text or a number. */
import { expect, test } from 'vitest';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { EmbeddingsTranslator } from '../../../../server/apis/translation/embeddings-translator.ts';
import { upstreamTranslations, wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { createTranslatorBetween } from '../../../../server/apis/translation/translator.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import { type Json, targetOf } from './translating.ts';

const unconvertible = { toString: 1, valueOf: 1 };
const oddValues = [unconvertible, [[unconvertible]], 'toString', '__proto__', '', 7, -0.5, true, null, {}, []];

const schema = {
  type: 'object',
  properties: { at: { type: 'string', format: 'date' }, of: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  required: ['at'],
};
const png = 'iVBORw0KGgo=';

/** Besides the specimens: conversations with calls, results and media. */
const conversations: Record<WireName, Json> = {
  'openai-chat': {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] },
      { role: 'user', content: [{ type: 'file', file: { file_data: `data:application/pdf;base64,${png}` } }] },
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'A' }] },
    ],
    tools: [{ type: 'function', function: { name: 'read', parameters: schema, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'read' } },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    stream_options: { include_usage: true },
  },
  'openai-responses': {
    input: [
      { role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }] },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'A' }] },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'A' },
    ],
    tools: [{ type: 'function', name: 'read', parameters: schema, strict: true }],
    tool_choice: { type: 'function', name: 'read' },
    text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
  },
  'anthropic-messages': {
    max_tokens: 100,
    messages: [
      { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'x' },
          { type: 'text', text: 'A' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: { at: 'here' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A' }] }] },
    ],
    tools: [{ name: 'read', input_schema: schema, strict: true }],
    tool_choice: { type: 'tool', name: 'read' },
    output_config: { format: { type: 'json_schema', schema } },
  },
  'gemini-generate': {
    systemInstruction: { parts: [{ text: 'Be kind.' }] },
    contents: [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: png } }] },
      { role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: '1' } }] },
      { role: 'model', parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }] },
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'read', args: {} }, thoughtSignature: 'x' }] },
      { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'read', response: { output: 'A' } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } },
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  },
};

/** The request with each of its values, one at a time, replaced by each odd one. */
function* variants(request: unknown, path = ''): Generator<[path: string, value: unknown]> {
  for (const odd of oddValues) yield [path, odd];
  if (!isObject(request) && !Array.isArray(request)) return;
  for (const [name, member] of Object.entries(request)) {
    for (const [at, changed] of variants(member, `${path}/${name}`)) {
      const copy: unknown = Array.isArray(request)
        ? request.with(Number(name), changed)
        : { ...request, [name]: changed };
      yield [at, copy];
    }
  }
}

/** The errors, other than refusals, of the variants of `request`. */
function defectsOf(request: unknown, translate: (body: Buffer) => unknown): Set<string> {
  const defects = new Set<string>();
  for (const [path, value] of variants(request)) {
    try {
      translate(Buffer.from(JSON.stringify(value)));
    } catch (error) {
      if (!(error instanceof GatewayError)) defects.add(`${path}: ${error}`);
    }
  }
  return defects;
}

const models: Record<UpstreamWireName, string> = {
  'openai-chat': 'gpt-4.1',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-opus-4-6',
  'gemini-generate': 'gemini-3-pro',
  'bedrock-converse': 'amazon.nova-pro-v1:0',
};
const clients = Object.keys(conversations) as WireName[];
const upstreams = Object.keys(upstreamTranslations) as UpstreamWireName[];

test.each(clients)('a conversation of %s is translated or refused', (client) => {
  for (const request of [wireTranslations[client].client.specimen, { ...conversations[client], model: 'model' }]) {
    for (const upstream of upstreams) {
      const translator = createTranslatorBetween(client, upstream);
      const target = targetOf(models[upstream]);
      const defects = defectsOf(request, (body) => translator.request(translator.read(body), target));
      expect([upstream, ...defects]).toEqual([upstream]);
    }
  }
});

const embedded = { model: 'm', input: ['Hello'], dimensions: 8, encoding_format: 'float', user: 'user' };
const content = { model: 'm', content: { parts: [{ text: 'Hello' }] }, taskType: 'X', outputDimensionality: 8 };

test.each([
  ['openai-embeddings', embedded],
  ['gemini-embeddings', content],
  ['gemini-embeddings', { model: 'm', requests: [content] }],
] as const)('%s are translated or refused', (client, request) => {
  for (const upstream of ['openai-embeddings', 'gemini-embeddings', 'vertex-predict', 'bedrock-embeddings'] as const) {
    const translator = new EmbeddingsTranslator(client, upstream);
    const model = upstream === 'bedrock-embeddings' ? 'cohere.embed-v4:0' : 'model';
    expect([upstream, ...defectsOf(request, (body) => translator.open(body)({ model }))]).toEqual([upstream]);
  }
});
