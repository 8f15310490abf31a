import { describe, expect, it } from 'vitest';
import { readConversation } from '../../../../server/contract/conversation/read-conversation.ts';

const picture = 'data:image/png;base64,AAAA';
const said = (text: string) => ({ kind: 'text', text });

/**
 * A system prompt, a question with a picture, a thought, a call, its result and an answer, in the format of each API.
 */
const conversations: Record<string, [request: object, answer: object]> = {
  chat: [
    {
      messages: [
        { role: 'system', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: picture } },
          ],
        },
        {
          role: 'assistant',
          reasoning_content: 'Hm',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks' } }],
    },
    { choices: [{ index: 0, message: { role: 'assistant', content: 'A cat.' }, finish_reason: 'stop' }] },
  ],
  anthropic: [
    {
      system: [{ type: 'text', text: 'Be brief' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 's' },
            { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a cat' }] },
      ],
      tools: [{ name: 'look', description: 'Looks', input_schema: {} }],
    },
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'A cat.' }], stop_reason: 'stop' },
  ],
  responses: [
    {
      instructions: 'Be brief',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', image_url: picture },
          ],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at": 1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
      ],
      tools: [{ type: 'function', name: 'look', description: 'Looks' }],
    },
    {
      status: 'stop',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A cat.' }] }],
    },
  ],
  gemini: [
    {
      systemInstruction: { parts: [{ text: 'Be brief' }] },
      contents: [
        { role: 'user', parts: [{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        {
          role: 'model',
          parts: [{ text: 'Hm', thought: true }, { functionCall: { id: 'c1', name: 'look', args: { at: 1 } } }],
        },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'look', response: 'a cat' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks' }] }],
    },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'A cat.' }] }, finishReason: 'stop' }] },
  ],
};

describe('a conversation', () => {
  it.each(Object.entries(conversations))('of %s shows who said what, each call with its result', (_api, pair) => {
    const shown = readConversation(...pair);
    expect(shown?.tools).toEqual([{ name: 'look', description: 'Looks' }]);
    expect(shown?.messages[0]).toMatchObject({ role: 'system', parts: [said('Be brief')] });
    expect(shown?.messages[1]).toMatchObject({
      role: 'user',
      parts: [said('See'), { kind: 'media', medium: 'image', url: picture }],
    });
    // The Responses API has a separate item for each of them.
    const parts = shown?.messages.slice(2, -1).flatMap((message) => message.parts);
    expect(parts).toEqual([
      { kind: 'thinking', text: 'Hm' },
      {
        kind: 'call',
        id: 'c1',
        name: 'look',
        input: expect.stringMatching(/^\{\s*"at": 1\s*\}$/),
        result: { parts: [said('a cat')], isError: false },
      },
    ]);
    expect(shown?.messages.at(-1)).toEqual({
      role: 'assistant',
      isAnswer: true,
      parts: [said('A cat.')],
      stop: 'stop',
    });
  });

  it('shows sound, files and what only one API knows', () => {
    const content = [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'hologram', depth: 3 },
    ];
    expect(readConversation({ messages: [{ role: 'user', content }] }, null)?.messages[0]?.parts).toEqual([
      { kind: 'media', medium: 'audio', url: 'data:audio/mp3;base64,AAAA', name: 'audio/mp3' },
      { kind: 'media', medium: 'file', url: 'data:application/pdf;base64,AAAA', name: 'a.pdf' },
      { kind: 'other', name: 'hologram', json: '{\n  "type": "hologram",\n  "depth": 3\n}' },
    ]);
  });

  it('pairs calls of the same name with their results in turn', () => {
    const call = { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] };
    const result = (response: string) => ({
      role: 'user',
      parts: [{ functionResponse: { name: 'look', response: { response } } }],
    });
    const shown = readConversation({ contents: [call, result('one'), call, result('two')] }, null);
    const results = shown?.messages.flatMap(({ parts }) =>
      parts.map((part) => (part.kind === 'call' ? JSON.stringify(part.result) : part.kind)),
    );
    expect(results).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
  });

  it('keeps a result without its call, and reads fields of the wrong type as nothing', () => {
    const stray = { role: 'tool', tool_call_id: 'gone', content: 'late' };
    const shown = readConversation(
      { messages: [stray, 7, { role: 'user', content: { odd: true } }] },
      { choices: [3] },
    );
    expect(shown?.messages).toEqual([
      {
        role: 'tool',
        isAnswer: false,
        stop: null,
        parts: [{ kind: 'result', callId: 'gone', parts: [said('late')], isError: false }],
      },
    ]);
  });

  it('shows the prompt and the pictures of an image request', () => {
    const shown = readConversation({ prompt: 'A cat' }, { data: [{ b64_json: 'AAAA' }] });
    expect(shown?.messages.map(({ parts }) => parts)).toEqual([
      [said('A cat')],
      [{ kind: 'media', medium: 'image', url: picture, name: 'image/png' }],
    ]);
  });

  it.each([
    [null, null],
    [{ input: ['a', 'b'] }, { data: [{ embedding: [1] }] }],
    ['text', 7],
  ])('is none in %j and %j', (request, answer) => {
    expect(readConversation(request, answer)).toBe(null);
  });
});
