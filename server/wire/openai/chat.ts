import type { RequestView, Wire } from '../wire.ts';
import { chatStream } from './chat-stream.ts';
import { countOf, jsonAnswer, jsonRequest, paidCountOf } from './formats.ts';

/** `POST /v1/chat/completions`. */
export const chat: Wire = {
  name: 'openai-chat',
  operation: 'chat',
  request: {
    ...jsonRequest,
    answersAsked: (body) => countOf(body.field('n')),
    answersPaid: (body) => paidCountOf(body.field('n')),
    isOneText: (body) => countOf(body.field('n')) === 1,
    takesBeginning: true,
  },
  whole: jsonAnswer(['"choices"']),
  stream: chatStream,
};

/** `POST /v1/completions`, the legacy one. */
export const completions: Wire = {
  name: 'openai-completions',
  operation: 'completions',
  request: { ...jsonRequest, answersAsked, answersPaid, isOneText },
  whole: jsonAnswer(['"choices"']),
  stream: chatStream,
};

/** For each prompt. */
function answersAsked(body: RequestView): number {
  return countOf(body.field('n')) * countPrompts(body.field('prompt'));
}

/** The best of `best_of` are sent. */
function answersPaid(body: RequestView): number {
  const perPrompt = Math.max(paidCountOf(body.field('n')), paidCountOf(body.field('best_of')));
  return perPrompt * countPrompts(body.field('prompt'));
}

/** Several texts or several lists of tokens; one list of tokens is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}

/** Not with what each token weighs, the prompt before it, or what comes after it. */
function isOneText(body: RequestView): boolean {
  return answersAsked(body) === 1 && !['logprobs', 'echo', 'suffix'].some((name) => body.field(name));
}
