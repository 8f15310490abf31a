import { expect, test } from 'vitest';
import { conversationOf } from '../../../../../server/apis/core/requests/client-session.ts';
import { JsonBody } from '../../../../../server/http/body/json-body.ts';

const of = (body: object) => conversationOf(new JsonBody(Buffer.from(JSON.stringify(body))));
const system = { role: 'system', content: 'You are a poet, {"role":"user"} and no liar.' };
const user = { role: 'user', content: 'A "poem" ] please' };
const more = [
  { role: 'assistant', content: 'Once' },
  { role: 'user', content: 'And then?' },
];

test('a conversation is the same from turn to turn', () => {
  expect(of({ messages: [system, user, ...more] })).toBe(of({ messages: [system, user] }));
  expect(of({ instructions: 'x', input: [user, ...more] })).toBe(of({ instructions: 'x', input: [user] }));
});

test('a conversation with another beginning is another one', () => {
  const all = [
    { messages: [system, user] },
    { messages: [user] },
    { messages: [system, { role: 'user', content: 'Another poem' }] },
    { input: [user], instructions: 'x' },
    { input: 'A poem' },
    { input: [] },
  ];
  expect(new Set(all.map(of)).size).toBe(6);
  expect(of({ input: [] })).toBeNull();
  expect(of({ model: 'x' })).toBeNull();
});

test('without a message of the user the first message identifies it', () => {
  expect(of({ messages: [system, more[0]] })).toBe(of({ messages: [system] }));
});

test('the client’s own name for it has priority', () => {
  expect(of({ prompt_cache_key: 'mine', messages: [user] })).toBe('mine');
});

test('a long one is identified by its beginning', () => {
  const long = { role: 'system', content: 'x'.repeat(300_000) };
  expect(of({ messages: [long, user] })).toBe(of({ messages: [long, user, ...more] }));
  expect(of({ messages: [long, user] })).not.toBe(of({ messages: [system, user] }));
});
