import { expect, test } from 'vitest';
import { newestResultIds } from '../../../../../server/apis/neutral/requests/reasoning-origin.ts';

test('the ids of tool results are read newest first, and none out of a text', () => {
  const text = JSON.stringify({ tool_call_id: 'quoted' });
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'tool', content: 'x', tool_call_id: 'call_2' },
  ];
  expect(newestResultIds(Buffer.from(JSON.stringify({ messages }, null, 2)))).toEqual(['call_2', 'call_1']);
  expect(newestResultIds(Buffer.from('"tool_call_id":'))).toEqual([]);
});
