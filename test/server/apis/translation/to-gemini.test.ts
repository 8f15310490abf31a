/**
 * Clients of chat, Claude and Responses with a Gemini provider. Source: Google's "Gemini API reference" (v1beta),
 * "Function calling" and "Thought signatures".
 */
import { describe, expect, test } from 'vitest';
import {
  answered,
  dataOf,
  everySplit,
  type Json,
  lossesOf,
  moment,
  sent,
  streamed,
  streamOf,
  translate,
  type Way,
} from './translating.ts';

const fromChat: Way = { from: 'openai-chat', to: 'gemini-generate', model: 'gemini-3-pro' };
const fromClaude: Way = { from: 'anthropic-messages', to: 'gemini-generate', model: 'gemini-3-pro' };

const user = { role: 'user', content: 'Hello' };
const call = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } };
const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } }];
const loop = [
  user,
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: 'A' },
];

describe('a request to a Gemini', () => {
  test('includes the name of a PDF as text in front of it, unless the name has no meaning', () => {
    const file = (filename: string) => ({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { filename, file_data: 'data:application/pdf;base64,aGVsbG8=' } }],
        },
      ],
    });
    const pdf = { inlineData: { mimeType: 'application/pdf', data: 'aGVsbG8=' } };
    expect(sent(fromChat, file('Q3 report.pdf')).contents).toEqual([
      { role: 'user', parts: [{ text: 'File: Q3 report.pdf' }, pdf] },
    ]);
    expect(lossesOf(fromChat, file('Q3 report.pdf'))).toEqual(['emulated messages[0].content[0]: as-text']);
    expect(sent(fromChat, file('document.pdf')).contents).toEqual([{ role: 'user', parts: [pdf] }]);
  });

  test('reports that calls need not match the schema of a strict tool', () => {
    const [tool] = tools;
    const strict = [{ ...tool, function: { ...tool?.function, strict: true } }];
    expect(lossesOf(fromChat, { model: 'm', messages: [user], tools: strict })).toEqual([
      'dropped tools[].function.strict: no-equal',
    ]);
  });

  test.each<[string, Json, Json]>([
    [
      'instructions and text',
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      },
    ],
    [
      'calls and results, with a stand-in for the signature that nobody has',
      { messages: loop, tools },
      {
        contents: [
          { role: 'user' },
          {
            role: 'model',
            parts: [
              {
                functionCall: { name: 'read', args: { path: 'a' } },
                thoughtSignature: 'skip_thought_signature_validator',
              },
            ],
          },
          { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output: 'A' } } }] },
        ],
        tools: [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: { type: 'object', properties: {} } }] }],
      },
    ],
    [
      'a named tool',
      { messages: [user], tools, tool_choice: { type: 'function', function: { name: 'read' } } },
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } } },
    ],
    [
      'sampling, limits and an effort',
      { messages: [user], temperature: 1.5, top_p: 0.5, seed: 3, max_tokens: 9, stop: 'END', reasoning_effort: 'none' },
      {
        generationConfig: {
          temperature: 1.5,
          topP: 0.5,
          seed: 3,
          maxOutputTokens: 9,
          stopSequences: ['END'],
          thinkingConfig: { thinkingLevel: 'LOW' },
        },
      },
    ],
    [
      'a format',
      {
        messages: [user],
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      },
      { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } } },
    ],
    [
      'pictures and sound',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
              { type: 'image_url', image_url: { url: 'https://example.com/a.webp?x' } },
              { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
            ],
          },
        ],
      },
      {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
              { fileData: { mimeType: 'image/webp', fileUri: 'https://example.com/a.webp?x' } },
              { inlineData: { mimeType: 'audio/mp3', data: 'BBBB' } },
            ],
          },
        ],
      },
    ],
  ])('carries %s', (_name, asked, expected) =>
    expect(sent(fromChat, { model: 'm', ...asked })).toMatchObject(expected),
  );

  test('has a budget where the model knows no levels', () => {
    const asked = { model: 'm', messages: [user], reasoning_effort: 'xhigh' };
    expect(sent({ ...fromChat, model: 'gemini-2.5-flash' }, asked)).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } },
    });
  });

  test('tells what is lost', () => {
    const asked = {
      model: 'm',
      messages: [user],
      logit_bias: {},
      parallel_tool_calls: false,
      user: 'u',
      prediction: {},
    };
    expect(lossesOf(fromChat, asked).sort()).toEqual([
      'dropped logit_bias: no-equal',
      'dropped parallel_tool_calls: no-equal',
      'dropped prediction: no-equal',
      'dropped safety_identifier: no-equal',
    ]);
  });

  test('puts the pictures of results where the model looks for them', () => {
    const result = {
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
    };
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] },
      { role: 'user', content: [result] },
    ];
    const asked = { model: 'm', max_tokens: 9, messages };
    const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const partsOf = (way: Way) => (sent(way, asked).contents as { parts: Json[] }[]).at(-1)?.parts;
    expect(partsOf(fromClaude)).toMatchObject([{ functionResponse: { name: 'look', parts: [picture] } }]);
    expect(partsOf({ ...fromClaude, model: 'gemini-2.5-pro' })).toMatchObject([{ functionResponse: {} }, picture]);
  });
});

const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 10,
  thoughtsTokenCount: 5,
  totalTokenCount: 115,
};
const whole = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'I look.' },
          { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'c2ln' },
          { functionCall: { name: 'read' } },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata,
  responseId: 'r1',
};

const piece = (parts: Json[], more: Json = {}, counted: Json = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
  responseId: 'r1',
  ...counted,
});
const spoken = streamOf(
  [
    piece([{ text: 'Hm.', thought: true }]),
    piece([{ text: 'Grüße' }], { finishReason: 'STOP' }),
    piece([{ text: ' 漢字' }], { finishReason: 'STOP' }, { usageMetadata: { promptTokenCount: 100 } }),
    piece([{ functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'c2ln' }]),
    piece([{ functionCall: { name: 'read' } }]),
    piece([], { finishReason: 'STOP' }, { usageMetadata }),
  ],
  false,
);

describe('an answer of a Gemini', () => {
  const chat = { model: 'm', messages: [user], tools, stream: true, stream_options: { include_usage: true } };

  test('becomes a chat completion, with ids for its calls', () => {
    expect(answered(translate(fromChat, chat), whole)).toMatchObject({
      choices: [
        {
          message: {
            content: 'I look.',
            reasoning_content: 'Hm.',
            tool_calls: [
              {
                id: expect.stringMatching(/^call_\w{22}$/),
                function: { name: 'read', arguments: '{"path":"a"}' },
                extra_content: { google: { thought_signature: expect.any(String) } },
              },
              { id: expect.stringMatching(/^call_\w{22}$/), function: { arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 15,
        total_tokens: 115,
        prompt_tokens_details: { cached_tokens: 40 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    });
  });

  test('becomes chunks, wherever its bytes are divided', () => {
    const request = translate(fromChat, chat);
    const told = streamed(request, [spoken]);
    expect(dataOf(told).at(-3)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(told).toContain('Grüße');
    expect(told).toContain(' 漢字');
    expect(told.match(/"finish_reason":"/g)).toHaveLength(1);
    for (const pieces of everySplit(spoken)) expect(streamed(request, pieces)).toBe(told);
  });

  test.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['STOP', 'stop'],
    ['UNHEARD_OF', 'stop'],
  ])('that finished with %s says %s', (reason, expected) => {
    const answer = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: reason }] };
    expect(answered(translate(fromChat, chat), answer)).toMatchObject({ choices: [{ finish_reason: expected }] });
  });

  test('to a prompt that was blocked is an empty one', () => {
    expect(answered(translate(fromChat, chat), { promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
      choices: [{ message: { content: '' }, finish_reason: 'content_filter' }],
    });
  });

  test('is not blocked by feedback that only rates the prompt', () => {
    const promptFeedback = { safetyRatings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'NEGLIGIBLE' }] };
    const request = translate(fromChat, { ...chat, stream: true });
    const content = { parts: [{ text: 'Hello' }] };
    const stream = streamOf([{ candidates: [{ content, finishReason: 'STOP' }] }, { promptFeedback }], false);
    expect(streamed(request, [stream])).toContain('"finish_reason":"stop"');
    expect(request.whole(Buffer.from(JSON.stringify({ promptFeedback })), moment)).toBeNull();
  });

  test('with a call that Google could not read is an error', () => {
    const answer = { candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL' }] };
    expect(translate(fromChat, chat).whole(Buffer.from(JSON.stringify(answer)), moment)).toMatchObject({ ok: false });
  });

  test('gets ids for calls that no other conversation has, since what belongs to a call is kept by its id', () => {
    const request = translate(fromChat, requestOf(fromChat));
    const idIn = (responseId: string) =>
      /"id":"(call_\w+)"/.exec(JSON.stringify(answered(request, { ...whole, responseId })))?.[1];
    expect(idIn('r1')).toBeDefined();
    expect(idIn('r1')).toBe(idIn('r1'));
    expect(idIn('r2')).not.toBe(idIn('r1'));
    const stream = streamed(request, [streamOf([{ ...whole, responseId: 'r1' }], false)]);
    expect(stream).toContain(idIn('r1'));
  });

  test.each([
    ['a chat client that keeps unknown members', fromChat],
    ['Claude Code', fromClaude],
    ['Codex', { ...fromChat, from: 'openai-responses' } as Way],
  ])('gets its signatures back from %s', (_name, way) => {
    const asked = requestOf(way);
    const answer = answered(translate(way, asked), whole);
    const contents = sent(way, goOn(way, asked, answer)).contents as { parts: Json[] }[];
    expect(contents[1]?.parts.filter(({ functionCall }) => functionCall)).toMatchObject([
      { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'c2ln' },
      { functionCall: { name: 'read', args: {} } },
    ]);
    expect(contents[2]?.parts).toHaveLength(2);
  });
});

/** A minimal request of a client of this API. */
function requestOf({ from }: Way): Json {
  if (from === 'anthropic-messages') return { model: 'm', max_tokens: 9, messages: [user], tools: [{ name: 'read' }] };
  if (from === 'openai-chat') return { model: 'm', messages: [user], tools };
  return { model: 'm', input: [{ type: 'message', ...user }], tools: [{ type: 'function', name: 'read' }] };
}

/** The next request of a client that sends back what it received, with results for all calls. */
function goOn({ from }: Way, asked: Json, answer: Json): Json {
  if (from === 'anthropic-messages') {
    const content = answer.content as Json[];
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'A' }));
    return { ...asked, messages: [user, { role: 'assistant', content }, { role: 'user', content: results }] };
  }
  if (from === 'openai-chat') {
    const [{ message }] = answer.choices as [{ message: { tool_calls: Json[] } }];
    const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'A' }));
    return { ...asked, messages: [user, message, ...results] };
  }
  const output = answer.output as Json[];
  const results = output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'A' }));
  return { ...asked, input: [{ type: 'message', ...user }, ...output, ...results] };
}
