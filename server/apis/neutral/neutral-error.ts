/** Converts errors of any upstream API to OpenAI's terms. The errors of all other APIs are derived from these. */

import type { ErrorBody } from '../../contract/errors.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { entryOf } from '../core/table-entry.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import type { AnswerError } from './neutral-answer.ts';

type Words = Pick<AnswerError, 'type' | 'code'>;

const invalid = 'invalid_request_error';
const limited: Words = { type: 'requests', code: 'rate_limit_exceeded' };
const overloaded: Words = { type: 'server_error', code: 'server_overloaded' };
const timedOut: Words = { type: 'server_error', code: 'upstream_timeout' };
const internal: Words = { type: 'server_error', code: null };

/**
 * Sources: Anthropic, "Errors"; Google, "Troubleshooting guide" and `google.rpc.Code`; Amazon Bedrock API reference,
 * "Converse", Errors.
 */
const words: Record<string, Words> = {
  authentication_error: { type: invalid, code: 'invalid_api_key' },
  UNAUTHENTICATED: { type: invalid, code: 'invalid_api_key' },
  permission_error: { type: invalid, code: 'permission_denied' },
  PERMISSION_DENIED: { type: invalid, code: 'permission_denied' },
  billing_error: { type: 'insufficient_quota', code: 'insufficient_quota' },
  not_found_error: { type: invalid, code: 'model_not_found' },
  NOT_FOUND: { type: invalid, code: 'model_not_found' },
  request_too_large: { type: invalid, code: 'request_too_large' },
  INVALID_ARGUMENT: { type: invalid, code: null },
  FAILED_PRECONDITION: { type: invalid, code: null },
  rate_limit_error: limited,
  RESOURCE_EXHAUSTED: limited,
  overloaded_error: overloaded,
  UNAVAILABLE: overloaded,
  timeout_error: timedOut,
  DEADLINE_EXCEEDED: timedOut,
  api_error: internal,
  INTERNAL: internal,
  ValidationException: { type: invalid, code: null },
  AccessDeniedException: { type: invalid, code: 'permission_denied' },
  UnrecognizedClientException: { type: invalid, code: 'invalid_api_key' },
  ExpiredTokenException: { type: invalid, code: 'invalid_api_key' },
  InvalidSignatureException: { type: invalid, code: 'invalid_api_key' },
  ResourceNotFoundException: { type: invalid, code: 'model_not_found' },
  ThrottlingException: limited,
  ServiceQuotaExceededException: limited,
  ModelNotReadyException: overloaded,
  ServiceUnavailableException: overloaded,
  ModelTimeoutException: timedOut,
  ModelErrorException: internal,
  ModelStreamErrorException: internal,
  InternalServerException: internal,
};

/** Google has no separate status for a rejected key. */
const wrongKey = boundedPattern(/^API key (?:not valid|expired)/);

/** "Input is too long for requested model.": Bedrock gives no numbers. */
const tooLong = boundedPattern(/^(?:Input is too long|Too many input tokens)/);

/** For errors that have only a status. */
const wordsOfStatus: Record<number, Words> = {
  404: { type: invalid, code: 'model_not_found' },
  413: { type: invalid, code: 'request_too_large' },
  429: limited,
  504: timedOut,
};

/**
 * The error of an upstream of any API; null if its body could not be read.
 * @param status the HTTP status; omitted for an error within a stream
 */
export function neutralError(error: UpstreamError | null, status?: number): AnswerError {
  const { message, type, code } = error ?? { message: '', type: '', code: '' };
  const classified = entryOf(words, type) ?? wordsBy(type, code, status);
  if (wrongKey.test(message) && type === 'INVALID_ARGUMENT') return { message, type: invalid, code: 'invalid_api_key' };
  const text = message || 'The upstream failed and did not say why.';
  if (overflowIn({ message, code }) || tooLong.test(message))
    return { message: text, type: invalid, code: 'context_length_exceeded' };
  return { message: text, ...classified };
}

function wordsBy(type: string, code: string, status = 500): Words {
  const isVague = code === '' || code === String(status);
  const byStatus = isVague ? wordsOfStatus[status] : undefined;
  const hasType = type !== '' && (status >= 500 || type !== 'server_error');
  return byStatus ?? { type: hasType ? type : status < 500 ? invalid : 'server_error', code: code || null };
}

/** Uses the code by which OpenAI's clients recognise that a context is too long. */
export function openaiErrorBody({ message, type, code }: AnswerError): ErrorBody {
  const overflow = overflowIn({ message, code });
  const text = overflow
    ? `This model's maximum context length is ${overflow.limit} tokens. However, your messages resulted in ${overflow.tokens} tokens.`
    : message;
  return { message: text, type, param: null, code };
}

const statuses: Record<string, number> = {
  invalid_api_key: 401,
  permission_denied: 403,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  context_length_exceeded: 400,
  server_overloaded: 503,
  upstream_timeout: 504,
};

/** @param upstreamStatus used if the code implies none */
export function renderOpenaiError(error: AnswerError, upstreamStatus: number): { status: number; body: string } {
  const status =
    entryOf(statuses, error.code) ?? (upstreamStatus >= 400 && upstreamStatus < 600 ? upstreamStatus : 500);
  return { status, body: JSON.stringify({ error: openaiErrorBody(error) }) };
}
