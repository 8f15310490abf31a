import { expect, it } from 'vitest';
import { toMessages } from '../../../../renderer/state/chat/conversation.ts';
import { readSentChat } from '../../../../renderer/state/chat/read-sent.ts';
import { chatParameters } from '../../../../renderer/state/chat/sampling.ts';

const body = {
  model: 'gpt-5',
  temperature: 0.2,
  max_tokens: 50,
  reasoning_effort: 'low',
  tools: [{ type: 'function', function: { name: 'get_weather' } }],
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'And in Oslo?' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    { role: 'user', content: 'Thanks' },
  ],
};

it('a request that was sent stands in the panel as it was, its last message ready to be sent again', () => {
  const read = readSentChat(body, null);
  expect(read).toMatchObject({ model: 'gpt-5', system: 'Be brief.', text: 'Thanks' });
  expect(toMessages(read?.system ?? '', read?.turns ?? [])).toEqual([
    body.messages[0],
    { role: 'user', content: 'And in Oslo?' },
    body.messages[2],
    body.messages[3],
  ]);
  expect(read && chatParameters(read.sampling)).toEqual({
    temperature: 0.2,
    max_completion_tokens: 50,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
  });
  expect(JSON.parse(read?.tools ?? '')).toEqual(body.tools);
});

it('what is no chat request is not opened', () => {
  expect(readSentChat({ model: 'm', prompt: 'A cat' }, null)).toBeNull();
  expect(readSentChat(undefined, null)).toBeNull();
});

const png = 'data:image/png;base64,AAAA';

/** Two concurrent calls, then the result of each. It also contains fields that the panel does not support. */
const responses = {
  model: 'gpt-5',
  instructions: 'Be brief.',
  max_output_tokens: 90,
  reasoning: { effort: 'low', summary: 'auto' },
  metadata: { user: 'u' },
  previous_response_id: 'resp_1',
  tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }, { type: 'web_search' }],
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: png },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call', call_id: 'b', name: 'look', arguments: '{"at":2}' },
    { type: 'function_call_output', call_id: 'a', output: 'a cat' },
    { type: 'function_call_output', call_id: 'b', output: 'a dog' },
    { role: 'user', content: 'Sure?' },
  ],
};

const call = (id: string, at: number) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: expect.stringMatching(new RegExp(`^\\{\\s*"at":\\s*${at}\\s*\\}$`)) },
});
const asChat = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: png } },
    ],
  },
  { role: 'assistant', content: null, tool_calls: [call('a', 1), call('b', 2)] },
  { role: 'tool', tool_call_id: 'a', content: 'a cat' },
  { role: 'tool', tool_call_id: 'b', content: 'a dog' },
];
const lookTool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

it('a request to the Responses API is opened, and what the panel cannot hold is named', () => {
  const read = readSentChat(responses, null);
  expect(toMessages(read?.system ?? '', read?.turns ?? [])).toEqual(asChat);
  expect(read).toMatchObject({ model: 'gpt-5', text: 'Sure?', sampling: { maxTokens: 90, effort: 'low' } });
  expect(JSON.parse(read?.tools ?? '')).toEqual([lookTool]);
  expect(read?.omitted.toSorted()).toEqual([
    'metadata',
    'previous_response_id',
    'reasoning.summary',
    'thinking',
    'web_search',
  ]);
  expect(readSentChat({ input: 'Hello' }, null)).toMatchObject({ text: 'Hello', turns: [], omitted: [] });
});

it('a request to Anthropic Messages is opened, each result for its own call', () => {
  const read = readSentChat(
    {
      model: 'claude',
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      max_tokens: 90,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [
        { name: 'look', input_schema: { type: 'object' } },
        { type: 'bash_20250124', name: 'bash' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
            { type: 'tool_use', id: 'b', name: 'look', input: { at: 2 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'a cat' },
            { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'a dog' }] },
            { type: 'text', text: 'Sure?' },
          ],
        },
      ],
    },
    null,
  );
  expect(toMessages(read?.system ?? '', read?.turns ?? [])).toEqual(asChat);
  expect(read).toMatchObject({ model: 'claude', text: 'Sure?', sampling: { maxTokens: 90 } });
  expect(JSON.parse(read?.tools ?? '')).toEqual([lookTool]);
  expect(read?.omitted.toSorted()).toEqual(['bash', 'thinking']);
});

it('a request to Gemini is opened for the model of its path', () => {
  const read = readSentChat(
    {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      generationConfig: { temperature: 0.5, maxOutputTokens: 90, topK: 3 },
      safetySettings: [],
      tools: [{ functionDeclarations: [{ name: 'look', parameters: { type: 'OBJECT' } }] }, { googleSearch: {} }],
      contents: [
        { role: 'user', parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'look', args: { at: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'look', response: { what: 'a cat' } } }] },
        { role: 'user', parts: [{ text: 'Sure?' }, { fileData: { mimeType: 'video/mp4', fileUri: 'https://x/y' } }] },
      ],
    },
    'gemini-3',
  );
  const [system, asked, , result] = asChat;
  expect(toMessages(read?.system ?? '', read?.turns ?? [])).toEqual([
    system,
    asked,
    { role: 'assistant', content: null, tool_calls: [call('a', 1)] },
    { ...result, content: expect.stringContaining('a cat') },
  ]);
  expect(read).toMatchObject({ model: 'gemini-3', text: 'Sure?', sampling: { temperature: 0.5, maxTokens: 90 } });
  expect(JSON.parse(read?.tools ?? '')).toEqual([lookTool]);
  expect(read?.omitted.toSorted()).toEqual(['generationConfig.topK', 'googleSearch', 'safetySettings', 'video']);
});
