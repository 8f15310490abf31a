import { expect, it } from 'vitest';
import { firstNewOf } from '../../../../server/contract/conversation/read-conversation.ts';

const roles = { s: 'system', u: 'user', a: 'assistant', A: 'assistant' } as const;
/** `A` is the answer of this request, `a` one that the client sent back. */
const conversation = (text: string) =>
  [...text].map((letter) => ({ role: roles[letter as keyof typeof roles], isAnswer: letter === 'A' }));

it.each<[text: string, index: number | null, what: string]>([
  ['suA', null, 'the first turn'],
  ['suauA', 3, 'a second one'],
  ['suaauusA', 4, 'several messages at once'],
  ['suaA', null, 'results alone, which stand beside their calls'],
  ['sua', null, 'a beginning of the answer'],
  ['suau', 3, 'no answer yet'],
  ['', null, 'nothing'],
])('%s begins its newest turn at %s: %s', (text, index) => {
  expect(firstNewOf(conversation(text))).toBe(index);
});
