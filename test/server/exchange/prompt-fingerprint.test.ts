import { expect, test } from 'vitest';
import { JsonBody } from '../../../server/http/body/json-body.ts';

const of = (body: object) => new JsonBody(Buffer.from(JSON.stringify(body))).fingerprint();
const question = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

test('what says nothing of the question makes no difference', () => {
  const one = of({ user: 'a', ...question, seed: 1, metadata: { run: '1' } });
  expect(of({ user: 'b', ...question, seed: 22, metadata: { run: '2', more: [1] } })).toBe(one);
});

test('other words, another model, a longer conversation are another prompt', () => {
  const all = [
    question,
    { ...question, model: 'n' },
    { ...question, messages: [...question.messages, ...question.messages] },
    { ...question, messages: [{ role: 'user', content: 'hallo' }] },
  ];
  expect(new Set(all.map(of)).size).toBe(4);
});

test('of a long body the ends and the length count', () => {
  const long = (text: string, more = '') => of({ ...question, input: `${text}${'x'.repeat(100_000)}${more}` });
  expect(long('a')).toBe(long('a'));
  expect(new Set([long('a'), long('b'), long('a', 'x'), long('a', 'y')]).size).toBe(4);
});
