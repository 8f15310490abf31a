/**
 * Clients of Gemini's API with chat and Claude providers. Source: Google's "Gemini API reference" (v1beta), "Function
 * calling" and "Thought signatures".
 */
import { describe, expect, test } from 'vitest';
import { envelopeOfNothing } from '../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { dataOf, type Json, moment, streamed, streamOf, targetOf, translatorOf, type Way } from './translating.ts';

const toChat: Way = { from: 'gemini-generate', to: 'openai-chat', model: 'llama-3.3-70b' };
const toClaude: Way = { from: 'gemini-generate', to: 'anthropic-messages', model: 'claude-opus-4-6' };

/** A request of gemini-cli, shortened. */
const cli = {
  systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Look.' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    {
      role: 'model',
      parts: [
        { text: 'I think.', thought: true },
        { functionCall: { name: 'read', args: { n: 1 } } },
        { functionCall: { name: 'read', args: { n: 2 } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'read', response: { output: 'A' } } },
        { functionResponse: { name: 'read', response: { error: 'B' } } },
      ],
    },
  ],
  tools: [
    { functionDeclarations: [{ name: 'read', parameters: { type: 'OBJECT', properties: { n: { type: 'NUMBER' } } } }] },
    { googleSearch: {} },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  generationConfig: {
    temperature: 0,
    topP: 1,
    maxOutputTokens: 100,
    thinkingConfig: { thinkingBudget: 1000, includeThoughts: true },
  },
  safetySettings: [],
};

describe('a client of Gemini', () => {
  const read = (way: Way, body: Json, stream = false) => {
    const translator = translatorOf(way.from, way.to);
    const asked = translator.read(Buffer.from(JSON.stringify(body)), { model: 'gemini-pro', stream });
    return translator.request(asked, targetOf(way.model));
  };
  const expectedMessages = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, { type: 'image_url' }] },
    {
      role: 'assistant',
      tool_calls: [
        { id: 'call_0', function: { name: 'read', arguments: '{"n":1}' } },
        { id: 'call_1', function: { name: 'read', arguments: '{"n":2}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'A' },
    { role: 'tool', tool_call_id: 'call_1', content: 'Error: B' },
  ];

  test('is understood in both notations of its fields', () => {
    const body = JSON.parse(read(toChat, cli).body.toString());
    expect(body).toMatchObject({
      messages: expectedMessages,
      tools: [{ function: { name: 'read', parameters: { type: 'object', properties: { n: { type: 'number' } } } } }],
      tool_choice: 'auto',
      temperature: 0,
    });
    const { systemInstruction, generationConfig, toolConfig, safetySettings, ...rest } = cli;
    const snake = {
      ...rest,
      system_instruction: systemInstruction,
      generation_config: {
        max_output_tokens: 100,
        temperature: 0,
        top_p: 1,
        thinking_config: { thinking_budget: 1000, include_thoughts: true },
      },
      tool_config: { function_calling_config: { mode: 'AUTO' } },
      safety_settings: safetySettings,
    };
    expect(JSON.parse(read(toChat, snake).body.toString())).toEqual(body);
  });

  test('gets a chat as events of whole calls', () => {
    const chunk = (delta: Json, finish: string | null = null) => ({
      id: 'c1',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const stream = streamOf(
      [
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: 'I look.' }),
        chunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'read', arguments: '{"n":' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
        chunk({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
        '[DONE]',
      ],
      false,
    );
    const told = streamed(read(toChat, cli, true), [stream]);
    const events = dataOf(told) as {
      candidates: { content: { parts: Json[] }; finishReason?: string }[];
      usageMetadata?: Json;
    }[];
    expect(events.flatMap(({ candidates }) => candidates[0]?.content.parts ?? [])).toEqual([
      { text: 'Hm.', thought: true },
      { text: 'I look.', thoughtSignature: expect.any(String) },
      { functionCall: { id: 'x', name: 'read', args: { n: 1 } }, thoughtSignature: envelopeOfNothing },
      { text: '' },
    ]);
    expect(events.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    });
    expect(told).not.toContain('[DONE]');
  });

  test.each<[string, (parts: Json[]) => Json[][]]>([
    ['leaves thoughts out', (parts) => [parts.filter((part) => part.thought !== true)]],
    ['sends thoughts back too', (parts) => [parts]],
    ['has a content for each part', (parts) => parts.map((part) => [part])],
  ])('gives the reasoning of a Claude back beside the call, where it %s', (_name, split) => {
    const message = {
      id: 'msg_1',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
        { type: 'redacted_thinking', data: 'Rx==' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { n: 3 } },
      ],
      stop_reason: 'tool_use',
    };
    const result = read(toClaude, cli).whole(Buffer.from(JSON.stringify(message)), moment);
    if (!result?.ok) throw new Error('There is no answer.');
    const { candidates } = JSON.parse(result.body.toString());
    const said = split(candidates[0].content.parts).map((parts) => ({ role: 'model', parts }));
    const response = {
      role: 'user',
      parts: [{ functionResponse: { id: 'toolu_1', name: 'read', response: { output: 'A' } } }],
    };
    const next = read(toClaude, { ...cli, contents: [...cli.contents, ...said, response] });
    expect(next.losses).toEqual(read(toClaude, cli).losses);
    expect(JSON.parse(next.body.toString()).messages.at(-2).content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
      { type: 'redacted_thinking', data: 'Rx==' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: { n: 3 } },
    ]);
  });

  test.each([
    [{ contents: [] }, 'contents'],
    [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
    [{ contents: [{ parts: [{ functionCall: {} }] }] }, 'contents[0].parts[0].functionCall.name'],
    [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [{ toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, 'toolConfig.functionCallingConfig.mode'],
    [{ contents: [{ parts: [{ fileData: { fileUri: 'gs://a/b', mimeType: 'image/png' } }] }] }, 'contents[0].parts[0]'],
  ])('is refused by the name of the field that is wrong: %j', (wrong, param) => {
    expect(() => read(toChat, { ...cli, ...wrong })).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });
});
