import type { RawField, RequestFormat, RequestView, Wire } from '../core/wire.ts';
import { chatRescue } from './rescue/rescue.ts';
import { answerCountOf, isOfResponses, openaiUsage, paidCountOf } from './usage/usage.ts';
import { chatFitting } from './wire/fit-request.ts';
import { isAnySet, jsonAnswer, jsonRequest } from './wire/formats.ts';
import { chatStream } from './wire/streams.ts';

const chatFields = [...jsonRequest.fields, 'store'] as const;

type ChatField = (typeof chatFields)[number];

const chatRequest: RequestFormat<ChatField> = {
  ...jsonRequest,
  fields: chatFields,
  answersAsked: (body) => answerCountOf(body.field('n')),
  answersPaid: (body) => paidCountOf(body.field('n')),
  isOneText: (body) => answerCountOf(body.field('n')) === 1,
  asksToStore: (body) => body.field('store') === true,
  isMisplaced: isOfResponses,
  supportsPrefill: true,
  fitting: chatFitting,
};

/** `POST /v1/chat/completions`. */
export const chat: Wire<ChatField> = {
  name: 'openai-chat',
  operation: 'chat',
  request: chatRequest,
  errorName: 'code',
  usage: openaiUsage('chat', chatRequest),
  whole: jsonAnswer(['choices']),
  stream: chatStream,
  rescue: chatRescue,
};

const completionFields = [...jsonRequest.fields, 'best_of', 'logprobs', 'echo', 'suffix'] as const;

type CompletionField = (typeof completionFields)[number];

const completionsRequest: RequestFormat<CompletionField> = {
  ...jsonRequest,
  fields: completionFields,
  answersAsked,
  answersPaid,
  isOneText,
};

/** `POST /v1/completions` (legacy). */
export const completions: Wire<CompletionField> = {
  name: 'openai-completions',
  operation: 'completions',
  request: completionsRequest,
  errorName: 'code',
  usage: openaiUsage('completions', completionsRequest),
  whole: jsonAnswer(['choices']),
  stream: chatStream,
  rescue: chatRescue,
};

/** `n` answers for each prompt. */
function answersAsked(body: RequestView<CompletionField>): number {
  return answerCountOf(body.field('n')) * countPrompts(body.raw('prompt'));
}

/** With `best_of`, more answers are generated than sent. */
function answersPaid(body: RequestView<CompletionField>): number {
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
function isOneText(body: RequestView<CompletionField>): boolean {
  return answersAsked(body) === 1 && !isAnySet(body, 'logprobs', 'echo', 'suffix');
}
