/** Format definitions shared by OpenAI's wires. */

import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import { mebibyte } from '../../../contract/units.ts';
import { statusOfError } from '../../core/errors/error-names.ts';
import type { ToldError } from '../../core/errors/verdict.ts';
import { conversationFields, conversationOf, sessionFields } from '../../core/requests/client-session.ts';
import { errorIn, errorOf, type UpstreamError } from '../../core/upstream-error.ts';
import type { RequestFormat, RequestView, Verdict, WholeFormat } from '../../core/wire.ts';
import type { AnswerError } from '../../neutral/neutral-answer.ts';
import { usageFields } from '../usage/usage.ts';

/** What requests of all operations are read for. */
const commonFields = [...conversationFields, ...sessionFields, ...usageFields, 'stream_options'] as const;

export type CommonField = (typeof commonFields)[number];

export const jsonRequest: RequestFormat<CommonField> = {
  fields: commonFields,
  answersAsked: () => 1,
  answersPaid: () => 1,
  isTextAsked: () => false,
  isOneText: () => false,
  isBackground: () => false,
  wantsUsage,
  conversationOf,
  temperatureOf: ({ temperature }) => temperature,
  supportsPrefill: false,
};

/** `members`: each answer has at least one of these. No JSON except for images and embeddings comes near 32 MiB. */
export function jsonAnswer(members: readonly string[], more: Partial<WholeFormat> = {}): WholeFormat {
  return {
    kind: 'json',
    members,
    isNeverLonger: true,
    maxHeldBytes: 32 * mebibyte,
    isNumbers: false,
    judge: (top) => judge(top, members),
    ...more,
  };
}

/** Lists of embeddings or images, which may be too long to be held and are usable element by element. */
export const longList: Partial<WholeFormat> = { isNeverLonger: false, maxHeldBytes: 8 * mebibyte };

/** Audio and video. */
export const mediaAnswer: WholeFormat = {
  kind: 'media',
  members: [],
  isNeverLonger: false,
  maxHeldBytes: 8 * mebibyte,
  isNumbers: false,
  judge: (top) => judge(top, []),
};

/** A field that is too long to be parsed counts as set. */
export function isAnySet<Name extends string>(body: RequestView<Name>, ...names: Name[]): boolean {
  return names.some((name) => body.raw(name) !== null && !nothing.has(body.field(name)));
}

const nothing = new Set<unknown>([false, 0, '']);

function wantsUsage(body: RequestView<'stream_options'>): boolean {
  const options = body.field('stream_options');
  return isObject(options) && options.include_usage === true;
}

function judge(top: Record<string, unknown>, members: readonly string[]): Verdict {
  if (isBareError(top, members)) return bareError(errorOf(top));
  const error = errorIn(top);
  if (error && top.object === 'response' && isProviderError(error)) return { kind: 'failed-answer', error };
  // OpenRouter reports a failed provider in the choice (openrouter.ai/docs, "Errors").
  const [choice] = Array.isArray(top.choices) ? top.choices : [];
  const choiceError = isObject(choice) && choice.error ? errorIn(choice) : null;
  return choiceError ? { kind: 'error', status: statusOfError(choiceError), error: choiceError } : answer;
}

function bareError(error: UpstreamError | null): Verdict {
  return { kind: 'error', status: error ? statusOfError(error) : 502, error };
}

/**
 * An error in place of an answer. An error next to an answer, or in an object such as a failed video, is part of that
 * answer.
 */
function isBareError(top: Record<string, unknown>, members: readonly string[]): boolean {
  const isAnswer = members.some((name) => name in top);
  if (top.error) return !isAnswer && (typeof top.object !== 'string' || top.object === 'error');
  // vLLM sent flat errors (`object: "error"`) up to 0.10.0 (vllm#12886); FastAPI's `HTTPException` sends only `detail`.
  if (top.object === 'error' || ('detail' in top && Object.keys(top).length === 1)) return true;
  // Cloudflare's envelope (`success`, `errors`, `result`), and flat errors with `message` and `code`.
  const isErrorShape = top.success === false || top.status === 'error' || ('message' in top && 'code' in top);
  return isErrorShape && !isAnswer && !('id' in top) && !('object' in top);
}

function isProviderError({ code }: UpstreamError): boolean {
  return servicesOwnCodes.has(code);
}

const answer: Verdict = { kind: 'answer' };
const servicesOwnCodes = new Set([
  'server_error',
  'rate_limit_exceeded',
  'overloaded',
  'internal_error',
  'vector_store_timeout',
]);

// Errors of OpenAI's API, written and read.

/** An error as a response body. */
export function writeError(error: ErrorBody): string {
  return JSON.stringify({ error });
}

export function renderOpenaiError(error: ToldError): { status: number; body: string } {
  return { status: error.status, body: writeError(openaiErrorBody(error)) };
}

/** An error of another API. */
export function openaiErrorBody({ message, type, code }: AnswerError): ErrorBody {
  return { message, type, param: null, code };
}
