import { expect, test } from 'vitest';
import { toolUsesOf } from '../../../../renderer/views/sessions/session-facts.ts';

test('calls of one tool are shown together, and those that failed apart', () => {
  const tool = (name: string | null, bytes: number, hasFailed = false) => ({ name, bytes, hasFailed });
  const tools = [tool('Read', 10), tool('Bash', 5, true), tool('Read', 20), tool('Bash', 1), tool(null, 2)];
  expect(toolUsesOf(tools)).toEqual([
    { name: 'Read', bytes: 30, hasFailed: false, count: 2 },
    { name: 'Bash', bytes: 5, hasFailed: true, count: 1 },
    { name: 'Bash', bytes: 1, hasFailed: false, count: 1 },
    { name: null, bytes: 2, hasFailed: false, count: 1 },
  ]);
});
