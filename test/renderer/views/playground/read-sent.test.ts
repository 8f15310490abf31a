import { expect, it } from 'vitest';
import { toMessages } from '../../../../renderer/views/playground/conversation.ts';
import { readSentChat } from '../../../../renderer/views/playground/read-sent.ts';
import { chatParameters } from '../../../../renderer/views/playground/sampling.ts';

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

it('a request that was sent stands in the bench as it was, its last message ready to be sent again', () => {
  const read = readSentChat(body);
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
  expect(readSentChat({ input: 'Hello' })).toBeNull();
  expect(readSentChat(undefined)).toBeNull();
});
