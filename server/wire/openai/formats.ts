/** What most of OpenAI's wires have in common. */
import { pattern } from '../../bounded-pattern.ts';
import { isObject } from '../../contract/is-object.ts';
import { conversationOf } from '../conversation-id.ts';
import { errorIn, type UpstreamError } from '../upstream-error.ts';
import type { RequestFormat, RequestView, Verdict, WholeFormat } from '../wire.ts';
import { statusOfError } from './read-error.ts';

const mebibyte = 1024 * 1024;

export const jsonRequest: RequestFormat = {
  answersAsked: () => 1,
  answersPaid: () => 1,
  isTextAsked: () => false,
  isOneText: () => false,
  isBackground: () => false,
  mayMeanStream,
  wantsUsage,
  conversationOf,
  takesBeginning: false,
};

/** `marks` with their quotes. No JSON but pictures and vectors comes near 32 MiB. */
export function jsonAnswer(marks: readonly string[], more: Partial<WholeFormat> = {}): WholeFormat {
  return {
    kind: 'json',
    marks,
    isNeverLonger: true,
    maxHeldBytes: 32 * mebibyte,
    isNumbers: false,
    judge: (top) => judge(top, marks),
    ...more,
  };
}

/** Many vectors or pictures, of which the pieces are of use one by one: too many to be held. */
export const longList: Partial<WholeFormat> = { isNeverLonger: false, maxHeldBytes: 8 * mebibyte };

/** Sound and films. */
export const mediaAnswer: WholeFormat = {
  kind: 'media',
  marks: [],
  isNeverLonger: false,
  maxHeldBytes: 8 * mebibyte,
  isNumbers: false,
  judge: (top) => judge(top, []),
};

/** A number that is given as one or, in a form, as text. */
export function countOf(value: unknown): number {
  const count = Number(value);
  return Number.isInteger(count) && count > 0 ? count : 1;
}

/** OpenAI takes up to 128. What asks for more is refused or gets fewer, and is neither reserved nor charged beyond. */
const mostPaidAnswers = 128;

/** The same, as far as it may have to be paid for. */
export function paidCountOf(value: unknown): number {
  return Math.min(countOf(value), mostPaidAnswers);
}

/** What is too long to be read is there, whatever it says. */
export function isAnySet(body: RequestView, ...names: string[]): boolean {
  return names.some((name) => body.raw(name) !== null && !nothing.has(body.field(name)));
}

const nothing = new Set<unknown>([false, 0, '']);

const yes = pattern(/^(?:true|1|yes|on)$/i);

/** Some servers take other words for a yes than `true`. */
function mayMeanStream(body: RequestView): boolean {
  const stream = body.field('stream');
  return stream === true || stream === 1 || (typeof stream === 'string' && yes.test(stream));
}

function wantsUsage(body: RequestView): boolean {
  const options = body.field('stream_options');
  return isObject(options) && options.include_usage === true;
}

function judge(top: Record<string, unknown>, marks: readonly string[]): Verdict {
  const error = errorIn(top);
  if (isBareError(top, marks)) return { kind: 'error', status: error ? statusOfError(error) : 502, error };
  if (error && top.object === 'response' && isServicesOwn(error)) return { kind: 'failed-answer', error };
  // OpenRouter tells so of a choice whose provider failed (openrouter.ai/docs, "Errors").
  const [choice] = Array.isArray(top.choices) ? top.choices : [];
  const choiceError = isObject(choice) && choice.error ? errorIn(choice) : null;
  return choiceError ? { kind: 'error', status: statusOfError(choiceError), error: choiceError } : answer;
}

/** An error in place of an answer. Beside an answer, or in an object such as a video that failed, it is a part of that. */
function isBareError(top: Record<string, unknown>, marks: readonly string[]): boolean {
  const hasMark = marks.some((mark) => mark.slice(1, -1) in top);
  if (top.error) return !hasMark && (typeof top.object !== 'string' || top.object === 'error');
  // vLLM has told its errors flat (`object: "error"`); FastAPI, under many local servers, tells them by `detail` alone.
  if (top.object === 'error' || ('detail' in top && Object.keys(top).length === 1)) return true;
  // Cloudflare's envelope, and what gateways in front of services say of themselves.
  const soundsSo = top.success === false || top.status === 'error' || ('message' in top && 'code' in top);
  return soundsSo && !hasMark && !('id' in top) && !('object' in top);
}

function isServicesOwn({ code }: UpstreamError): boolean {
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
