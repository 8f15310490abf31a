import type { RawField, RequestFormat, RequestView, Wire } from '../core/wire.ts';
import { chatRescue } from './rescue/rescue.ts';
import { openaiUsage } from './usage/usage.ts';
import { chatStream } from './wire/chat-stream.ts';
import { countOf, isAnySet, jsonAnswer, jsonRequest, paidCountOf } from './wire/formats.ts';
import { openaiErrors } from './wire/read-error.ts';

const chatRequest: RequestFormat = {
  ...jsonRequest,
  answersAsked: (body) => countOf(body.field('n')),
  answersPaid: (body) => paidCountOf(body.field('n')),
  isOneText: (body) => countOf(body.field('n')) === 1,
  supportsPrefill: true,
};

/** `POST /v1/chat/completions`. */
export const chat: Wire = {
  name: 'openai-chat',
  operation: 'chat',
  request: chatRequest,
  errors: openaiErrors,
  usage: openaiUsage('chat', chatRequest),
  whole: jsonAnswer(['"choices"']),
  stream: chatStream,
  rescue: chatRescue,
};

const completionsRequest: RequestFormat = { ...jsonRequest, answersAsked, answersPaid, isOneText };

/** `POST /v1/completions` (legacy). */
export const completions: Wire = {
  name: 'openai-completions',
  operation: 'completions',
  request: completionsRequest,
  errors: openaiErrors,
  usage: openaiUsage('completions', completionsRequest),
  whole: jsonAnswer(['"choices"']),
  stream: chatStream,
  rescue: chatRescue,
};

/** `n` answers for each prompt. */
function answersAsked(body: RequestView): number {
  return countOf(body.field('n')) * countPrompts(body.raw('prompt'));
}

/** With `best_of`, more answers are generated than sent. */
function answersPaid(body: RequestView): number {
  const perPrompt = Math.max(paidCountOf(body.field('n')), paidCountOf(body.field('best_of')));
  return perPrompt * countPrompts(body.raw('prompt'));
}

/** Several texts or several token lists; one token list is one prompt. */
function countPrompts(prompt: RawField | null): number {
  const isList = prompt !== null && prompt.bytes[0] === openingBracket;
  return isList && !beginsWithNumber(prompt.bytes) ? Math.max(1, prompt.items) : 1;
}

function beginsWithNumber(list: Buffer): boolean {
  const first = list.findIndex((byte, at) => at > 0 && byte > space);
  return '-0123456789'.includes(String.fromCharCode(list[first] ?? space));
}

const openingBracket = 0x5b;
const space = 0x20;

/** Not with log probabilities, an echoed prompt, or a suffix. */
function isOneText(body: RequestView): boolean {
  return answersAsked(body) === 1 && !isAnySet(body, 'logprobs', 'echo', 'suffix');
}
