/**
 * The content of an upstream's error in any known form: OpenAI's, Anthropic's, Google's, Mistral's, or a stream event's.
 */

import { isObject } from '../../contract/is-object.ts';
import { hourMs } from '../../contract/units.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

export interface UpstreamError {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** Google's `retryDelay`. */
  retryAfterMs: number | null;
  /** llama.cpp's `n_prompt_tokens` and `n_ctx`. */
  overflow?: Overflow;
  /** It is a sentence and not in an API's form, so that any server on the way may have sent it. */
  isText?: boolean;
}

/** The numbers of a context that is too long; null where the error does not say. */
export interface Overflow {
  /** Tokens sent, or used together with the answer. */
  tokens: number | null;
  /** The most that the model takes. */
  limit: number | null;
}

type Json = Record<string, unknown>;

/** The error in the JSON of an event or of an answer that may be something else; null if there is none. */
export function errorIn(value: unknown): UpstreamError | null {
  const top = topOf(value);
  if (top === null) return null;
  const error = top.error ?? (isObject(top.response) ? top.response.error : undefined);
  if (typeof error === 'string' && error !== '') return errorNamed(error, top);
  if (isObject(error)) return toError(error);
  const isFlat = top.type === 'error' || top.object === 'error' || typeof top.detail === 'string';
  return isFlat ? toError({ ...top, message: top.message ?? top.detail }) : null;
}

/** `error` is the text itself, or the name of an error that other members describe (Spring Boot; OAuth). */
function errorNamed(error: string, top: Json): UpstreamError {
  const described = [top.message, top.msg, top.error_description].map(text).find((each) => each !== '');
  const code = text(top.code);
  return described === undefined
    ? { ...nothing, message: error, code }
    : { ...nothing, message: described, type: error, code };
}

/** The error in JSON that is known to be one, by its status; null if it says nothing. */
export function errorOf(value: unknown): UpstreamError | null {
  const error = errorIn(value);
  if (error && (error.message !== '' || error.type !== '' || error.code !== '')) return withTypeOf(value, error);
  const top = topOf(value);
  const message = top === null ? '' : messageIn(top, 0);
  if (top === null || message === '') return error;
  const { type, error_type: otherType, status } = top;
  return {
    ...nothing,
    message,
    type: text(type ?? otherType ?? (typeof status === 'string' ? status : undefined)),
    code: text(codeOf(top)),
    param: typeof top.param === 'string' ? top.param : null,
  };
}

/** Google sends an error as a list of one element. */
function topOf(value: unknown): Json | null {
  const top: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(top) ? top : null;
}

/** Text Generation Inference has the type beside the text. */
function withTypeOf(value: unknown, error: UpstreamError): UpstreamError {
  const otherType = topOf(value)?.error_type;
  return error.type === '' && typeof otherType === 'string' ? { ...error, type: otherType } : error;
}

/** Zhipu, Cerebras and gateways have `code`, Baidu `error_code`, MiniMax `base_resp.status_code`, Cloudflare a list of errors. */
function codeOf({ code, error_code: errorCode, base_resp: response, errors }: Json): unknown {
  const [first] = listOf(errors);
  return (
    code ??
    errorCode ??
    (isObject(response) ? response.status_code : undefined) ??
    (isObject(first) ? first.code : undefined)
  );
}

/**
 * The members that hold an error's text, most telling first: `detail` is FastAPI's (a sentence, an object, or Pydantic's list),
 * `errors` Cloudflare's, `msg` of gateways, `Message` and `errorMessage` AWS's, `error_msg` Baidu's, `status_msg` MiniMax's,
 * `faultstring` Apigee's.
 */
const messageMembers = [
  ...['message', 'msg', 'Message', 'errorMessage', 'error_message', 'error_msg', 'status_msg', 'error_description'],
  ...['errMsg', 'err_msg', 'err', 'faultstring'],
  ...['detail', 'details', 'error', 'errors', 'base_resp', 'reason', 'title'],
];
const maxDepth = 4;
const maxListed = 5;

function messageIn(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.trim();
  if (depth > maxDepth) return '';
  if (Array.isArray(value)) {
    const texts = value.slice(0, maxListed).map((each) => messageIn(each, depth + 1) || '');
    return [...new Set(texts)].filter((each) => each !== '').join('; ');
  }
  if (!isObject(value)) return '';
  const found =
    firstMessage(
      messageMembers.map((name) => value[name]),
      depth,
    ) || messageWithin(value, depth);
  return found === '' ? '' : `${placeOf(value)}${found}`;
}

/** What stands below members of any other name: `{"data":{"error":…}}`, `{"errors":{"top_p":["Input should be …"]}}`. */
function messageWithin(value: Json, depth: number): string {
  return firstMessage(
    Object.values(value).filter((each) => typeof each === 'object'),
    depth,
  );
}

function firstMessage(values: readonly unknown[], depth: number): string {
  for (const value of values) {
    const message = messageIn(value, depth + 1);
    if (message !== '') return message;
  }
  return '';
}

/** Pydantic says what is wrong with which field: `{"loc":["body","top_p"],"msg":"Input should be …"}`. */
function placeOf({ loc }: Json): string {
  const names = listOf(loc).filter((name) => name !== 'body' && (typeof name === 'string' || typeof name === 'number'));
  return names.length === 0 ? '' : `${names.join('.')}: `;
}

function toError(error: Json): UpstreamError {
  const inner = wrappedError(error);
  const message = text(error.message) || messageIn(error, 0);
  return {
    message: inner?.message || message,
    type: inner?.type || text(error.type ?? error.status),
    code: inner?.code || text(error.code ?? detailedCode(error.details)),
    param: typeof error.param === 'string' ? error.param : null,
    retryAfterMs: retryDelay(error.details),
    ...overflowOf(error),
  };
}

/** What the provider behind OpenRouter said, as text or JSON, beside "Provider returned error". */
function wrappedError({ metadata }: Json): UpstreamError | null {
  const raw = isObject(metadata) ? metadata.raw : undefined;
  if (typeof raw !== 'string') return isObject(raw) ? { ...nothing, message: messageIn(raw, 0) } : null;
  if (!raw.trimStart().startsWith('{')) return raw.trim() === '' ? null : { ...nothing, message: raw.trim() };
  try {
    const value: unknown = JSON.parse(raw);
    return errorOf(value);
  } catch {
    return null;
  }
}

function overflowOf({ n_prompt_tokens: tokens, n_ctx: limit }: Json): Pick<UpstreamError, 'overflow'> {
  return typeof tokens === 'number' && typeof limit === 'number' ? { overflow: { tokens, limit } } : {};
}

/** Anthropic's code, such as `enforced_spend_limit_reached`. */
function detailedCode(details: unknown): unknown {
  return isObject(details) ? details.error_code : undefined;
}

const nothing: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };

/** The error of a body that is no JSON. */
export function textError(message: string): UpstreamError {
  return { ...nothing, message, isText: true };
}

const delayInSeconds = boundedPattern(/^(\d+(?:\.\d+)?)s$/);

/** Wait for a daily quota, for which no `RetryInfo` can be trusted. Waits are limited to an hour in any case. */
const untilTomorrowMs = hourMs;

/** Google's QuotaFailure: `{"@type":"…/google.rpc.QuotaFailure","violations":[{"quotaId":"…PerDayPerProject…"}]}`. */
function isByDay(detail: unknown): boolean {
  const violations = isObject(detail) ? listOf(detail.violations) : [];
  return violations.some((each) => isObject(each) && text(each.quotaId).includes('PerDay'));
}

/** Google's RetryInfo: `{"@type":"…/google.rpc.RetryInfo","retryDelay":"34.4s"}`. */
function retryDelay(details: unknown): number | null {
  if (!Array.isArray(details)) return null;
  if (details.some(isByDay)) return untilTomorrowMs;
  for (const detail of details) {
    const delay = isObject(detail) ? delayInSeconds.exec(text(detail.retryDelay))?.[1] : undefined;
    if (delay !== undefined) return Number(delay) * 1000;
  }
  return null;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
