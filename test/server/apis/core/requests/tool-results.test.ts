/** The tool results at the end of a request, in the format of each API. */
import { expect, test } from 'vitest';
import { toolResultsOf } from '../../../../../server/apis/core/requests/turn-step.ts';
import { JsonBody } from '../../../../../server/http/body/json-body.ts';

const of = (body: object) =>
  toolResultsOf(new JsonBody(Buffer.from(JSON.stringify(body)))).map(
    ({ name, bytes, hasFailed }) => `${name} ${bytes}${hasFailed ? ' failed' : ''}`,
  );
const hi = { role: 'user', content: 'Hi' };
const called = (id: string, name: string) => ({ type: 'function', id, function: { name, arguments: '{"name":"x"}' } });
const chatCalls = { role: 'assistant', content: null, tool_calls: [called('a', 'read'), called('b', 'run')] };
const chatResult = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
const call = (id: string, name: string) => ({ type: 'function_call', call_id: id, name, arguments: '{}' });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: '12345678' });
const used = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { id: 'z', name: 'other' } });
const result = (id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: '12345678',
  ...more,
});

test.each<[string, object, string[]]>([
  ['Chat', { messages: [hi, chatCalls, chatResult('a', '1'), chatResult('b', [{}])] }, ['read 3', 'run 4']],
  ['Chat of old', { messages: [hi, { role: 'function', name: 'read', content: '1' }] }, ['read 3']],
  [
    'Responses',
    {
      input: [
        hi,
        call('x', 'old'),
        output('x'),
        { type: 'reasoning' },
        call('a', 'read'),
        call('b', 'run'),
        output('a'),
        output('b'),
      ],
    },
    ['read 10', 'run 10'],
  ],
  ['Responses that continue one', { input: [output('a')] }, ['null 10']],
  [
    'Responses with another kind of call',
    {
      input: [
        { type: 'local_shell_call', call_id: 'a' },
        { ...output('a'), type: 'local_shell_call_output' },
      ],
    },
    ['local_shell 10'],
  ],
  [
    'Messages',
    {
      messages: [
        hi,
        { role: 'assistant', content: [used('x', 'old')] },
        { role: 'user', content: [result('x')] },
        { role: 'assistant', content: [{ type: 'text', text: 'Now' }, used('a', 'Read'), used('b', 'Bash')] },
        { role: 'user', content: [result('a'), result('b', { is_error: true }), { type: 'text', text: 'Note' }] },
      ],
    },
    ['Read 10', 'Bash 10 failed'],
  ],
  [
    'Gemini',
    {
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'read' } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'read', response: { output: 1 } } },
            { function_response: { name: 'run', response: { error: 'no' } } },
          ],
        },
      ],
    },
    ['read 12', 'run 14 failed'],
  ],
  [
    'Converse',
    {
      messages: [
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'read', input: {} } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: 'x' }], status: 'error' } }] },
      ],
    },
    ['read 14 failed'],
  ],
  ['a prompt', { messages: [chatCalls, chatResult('a', '1'), hi] }, []],
  ['a text', { input: 'Hi' }, []],
])('%s', (_name, body, expected) => {
  expect(of(body)).toEqual(expected);
});

test('results that are too long to be examined are left out, and only the latest of many are kept', () => {
  expect(of({ messages: [chatCalls, chatResult('a', 'x'.repeat(300_000))] })).toEqual([]);
  const many = Array.from({ length: 50 }, (_, index) => chatResult('a', 'x'.repeat(index)));
  expect(of({ messages: [chatCalls, ...many] })).toHaveLength(32);
});

test('a name that is no text is left out', () => {
  const odd = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: ['read'] } }] };
  expect(of({ messages: [odd, chatResult('a', '1')] })).toEqual(['null 3']);
});
