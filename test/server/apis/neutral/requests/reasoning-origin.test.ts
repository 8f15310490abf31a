import { expect, test } from 'vitest';
import { newestCallResultIds, newestResultIds } from '../../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { chatClient } from '../../../../../server/apis/openai/chat/parse-request.ts';

test('the ids of tool results are read newest first, and none out of a text', () => {
  const text = JSON.stringify({ tool_call_id: 'quoted' });
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'tool', content: 'x', tool_call_id: 'call_2' },
  ];
  expect(newestResultIds(Buffer.from(JSON.stringify({ messages }, null, 2)), 'tool_call_id')).toEqual([
    'call_2',
    'call_1',
  ]);
  expect(newestResultIds(Buffer.from('"tool_call_id":'), 'tool_call_id')).toEqual([]);
});

test('the results of the newest calls alone say where a conversation is', () => {
  const calls = (id: string) => ({ role: 'assistant', tool_calls: [{ id }] });
  const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: '"tool_calls"' });
  const messages = [calls('call_1'), result('call_1'), calls('call_2'), result('call_2'), { role: 'user' }];
  expect(newestCallResultIds(Buffer.from(JSON.stringify({ messages })), chatClient)).toEqual(['call_2']);
  expect(newestCallResultIds(Buffer.from(JSON.stringify({ messages: [result('call_1')] })), chatClient)).toEqual([
    'call_1',
  ]);
});
