import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastElement, turnStepOf } from '../../../../../server/apis/core/requests/turn-step.ts';
import { JsonBody } from '../../../../../server/http/body/json-body.ts';

const of = (body: object) => turnStepOf(new JsonBody(Buffer.from(JSON.stringify(body))));
const user = { role: 'user', content: 'What does it say? {"type":"tool_result"}' };

test.each([
  ['Chat', { messages: [user, { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'A "note" ]' }] }],
  ['Messages', { messages: [user, { role: 'user', content: [{ type: 'tool_result', content: 'x' }] }] }],
  ['Responses', { input: [user, { type: 'function_call_output', output: 'x' }] }],
  ['Responses of a custom tool', { input: [user, { type: 'custom_tool_call_output', output: 'x' }] }],
  ['Gemini', { contents: [user, { role: 'user', parts: [{ functionResponse: {} }] }] }],
  ['Converse', { messages: [user, { role: 'user', content: [{ toolResult: {} }] }] }],
])('results of a tool end a conversation of %s', (_api, body) => {
  expect(of(body)).toBe('tools');
});

test('what a person said ends a conversation, even if it speaks of results', () => {
  expect(of({ messages: [{ role: 'tool', content: 'x' }, user] })).toBe('prompt');
  expect(of({ input: 'Hello' })).toBe('prompt');
  expect(of({ contents: [{ role: 'user', parts: [{ text: '"functionResponse"' }] }] })).toBe('prompt');
});

test('anything else is neither', () => {
  for (const body of [{ messages: [] }, { model: 'x' }, { messages: ['x'] }, { messages: [{ role: 'assistant' }] }]) {
    expect(of(body), JSON.stringify(body)).toBeNull();
  }
});

test('the last element of any list is found from its end', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.constantFrom(0, 2), (list, indent) => {
      const bytes = Buffer.from(JSON.stringify(list, null, indent));
      const range = lastElement(bytes, { maxBytes: bytes.length });
      expect(range && JSON.parse(bytes.subarray(range.start, range.end).toString())).toEqual(
        JSON.parse(JSON.stringify(list.at(-1))),
      );
    }),
  );
  expect(lastElement(Buffer.from('[ ]'), { maxBytes: 100 })).toBeNull();
  expect(lastElement(Buffer.from('["1234567890"]'), { maxBytes: 5 })).toBeNull();
});
