/** Google's own forms of JSON, which its services accept, at a provider of any other API. */
import { describe, expect, test } from 'vitest';
import { fromGoogleSchema } from '../../../../server/apis/gemini/translation/parse-request.ts';
import { type Json, sent, type Way } from './translating.ts';

const from = 'gemini-generate';
const ways: Way[] = [
  { from, to: 'openai-chat', model: 'gpt-5.4' },
  { from, to: 'openai-responses', model: 'gpt-5.4' },
  { from, to: 'anthropic-messages', model: 'claude-opus-4-6' },
  { from, to: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' },
];
const declaration = { name: 'read', parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } } } };
const usual = {
  model: 'm',
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  systemInstruction: { parts: [{ text: 'Be kind.' }] },
  tools: [{ functionDeclarations: [declaration] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } },
  generationConfig: { maxOutputTokens: 100, temperature: 1, stopSequences: ['END'] },
};
const forms: Record<string, Json> = {
  'one part instead of a list': { ...usual, contents: [{ role: 'user', parts: { text: 'Hi' } }] },
  'one content': { ...usual, contents: { parts: { text: 'Hi' } } },
  'one tool': { ...usual, tools: { functionDeclarations: declaration } },
  'a mode in lower case': {
    ...usual,
    toolConfig: { functionCallingConfig: { mode: 'any', allowedFunctionNames: 'read' } },
  },
  'numbers as texts': {
    ...usual,
    generationConfig: { maxOutputTokens: '100', temperature: '1', stopSequences: 'END' },
  },
  'names with underscores': {
    model: 'm',
    contents: usual.contents,
    system_instruction: { parts: { text: 'Be kind.' } },
    tools: { function_declarations: declaration },
    tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['read'] } },
    generation_config: { max_output_tokens: '100', temperature: 1, stop_sequences: ['END'] },
  },
};

describe.each(ways)('$to', (way) => {
  test.each(Object.entries(forms))('reads %s like the usual form', (_, body) => {
    expect(sent(way, body)).toEqual(sent(way, usual));
  });
});

describe('a schema of Google', () => {
  test('has numbers where its SDK writes texts, in tools and in answers', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        tags: { type: 'ARRAY', items: { type: 'STRING', maxLength: '5' }, minItems: '1', max_items: '3' },
        minItems: { type: 'INTEGER', minimum: '2', nullable: true },
      },
      propertyOrdering: ['tags', 'minItems'],
    };
    const schema = {
      type: 'object',
      properties: {
        tags: { type: 'array', items: { type: 'string', maxLength: 5 }, minItems: 1, maxItems: 3 },
        minItems: { type: ['integer', 'null'], minimum: 2 },
      },
    };
    const generationConfig = { responseMimeType: 'application/json', responseSchema: parameters };
    const asked = { ...usual, tools: [{ functionDeclarations: [{ name: 'f', parameters }] }], generationConfig };
    const body = sent({ from, to: 'openai-chat', model: 'gpt-5.4' }, asked);
    expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: schema } }]);
    expect(body.response_format).toMatchObject({ json_schema: { schema } });
  });

  test('that may be null accepts null, however it is written', () => {
    expect(fromGoogleSchema({ type: 'STRING', nullable: true, enum: ['a'] })).toEqual({
      type: ['string', 'null'],
      enum: ['a', null],
    });
    expect(fromGoogleSchema({ anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }], nullable: true })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }],
    });
    expect(fromGoogleSchema({ any_of: [{ type: 'STRING' }, { type: 'NULL' }], nullable: true })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
    });
    expect(fromGoogleSchema({ type: ['STRING', 'NULL'], nullable: true })).toEqual({ type: ['string', 'null'] });
    expect(fromGoogleSchema({ type: 'STRING', nullable: false, example: 'x' })).toEqual({
      type: 'string',
      examples: ['x'],
    });
  });

  test('keeps properties that are called like keywords', () => {
    const properties = { nullable: { type: 'BOOLEAN' }, max_items: { type: 'INTEGER' }, example: { type: 'STRING' } };
    expect(Object.keys(fromGoogleSchema({ type: 'OBJECT', properties }).properties as Json)).toEqual([
      'nullable',
      'max_items',
      'example',
    ]);
  });
});
