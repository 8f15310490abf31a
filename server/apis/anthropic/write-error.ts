import type { ErrorBody } from '../../contract/errors.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { entryOf } from '../core/table-entry.ts';
import type { Overflow } from '../core/upstream-error.ts';

/** Anthropic's error types for the error codes of OpenAI and Sluice. Source: Anthropic, "Errors". */
const typeOfCode: Record<string, string> = {
  invalid_api_key: 'authentication_error',
  key_disabled: 'authentication_error',
  key_expired: 'authentication_error',
  insufficient_quota: 'billing_error',
  model_not_found: 'not_found_error',
  unknown_url: 'not_found_error',
  not_found: 'not_found_error',
  thread_not_found: 'not_found_error',
  conflict: 'conflict_error',
  request_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  slow_down: 'rate_limit_error',
  upstream_timeout: 'timeout_error',
  no_healthy_provider: 'overloaded_error',
  shutting_down: 'overloaded_error',
  server_overloaded: 'overloaded_error',
  overloaded: 'overloaded_error',
  permission_denied: 'permission_error',
  host_not_allowed: 'permission_error',
  origin_not_allowed: 'permission_error',
  price_unknown: 'permission_error',
};

const typeOfType: Record<string, string> = {
  invalid_request_error: 'invalid_request_error',
  authentication_error: 'authentication_error',
  permission_error: 'permission_error',
  not_found_error: 'not_found_error',
  rate_limit_error: 'rate_limit_error',
  requests: 'rate_limit_error',
  tokens: 'rate_limit_error',
  insufficient_quota: 'billing_error',
  billing_error: 'billing_error',
  overloaded_error: 'overloaded_error',
  timeout_error: 'timeout_error',
  request_too_large: 'request_too_large',
};

const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** For the statuses from 400 to 499 whose code says no more. All others are of requests that are invalid. */
const typeOfStatus: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  424: 'api_error',
  425: 'api_error',
  429: 'rate_limit_error',
  499: 'api_error',
};

interface ErrorFields extends Pick<ErrorBody, 'message' | 'type' | 'code'> {
  /** Decides the type of an upstream's error, as far as its code does not. */
  status?: number;
  overflow?: Overflow;
}

/** The error as a response body, and as the data of an `error` event. */
export function writeAnthropicError(error: ErrorFields): string {
  const type = anthropicErrorType(error);
  const details = error.code !== null && detailedCodes.has(error.code) ? { details: { error_code: error.code } } : {};
  return JSON.stringify({ type: 'error', error: { type, message: wordsOf(error), ...details } });
}

/** Codes that clients act on. Anthropic's API has a place for them since its versions of 2026 (`error.details.error_code`). */
const detailedCodes = new Set(['purchase_outcome_unknown', 'thread_not_found', 'thread_unsupported_request']);

export function anthropicErrorType({ type, code, status }: ErrorFields): string {
  const byCode =
    entryOf(typeOfCode, code) ?? (code === 'context_length_exceeded' ? 'invalid_request_error' : undefined);
  if (byCode !== undefined) return byCode;
  if (status !== undefined && status < 500) return typeOfStatus[status] ?? 'invalid_request_error';
  return entryOf(typeOfType, type) ?? 'api_error';
}

/** The HTTP status with which Anthropic's API sends the error. @param otherStatus for an error that has no type there */
export function anthropicErrorStatus(error: ErrorFields, otherStatus = error.status ?? 500): number {
  const type = anthropicErrorType(error);
  if (type === 'timeout_error' && error.status === 408) return error.status;
  return type === 'api_error' && otherStatus >= 400 ? otherStatus : (entryOf(statusOfType, type) ?? 500);
}

/** Claude Code compacts a conversation when it finds this wording, and cuts as much as the two numbers say. */
function wordsOf(error: ErrorFields): string {
  const { message } = error;
  const overflow = error.overflow ?? overflowIn(error);
  if (overflow === null) return message;
  const { tokens, limit } = overflow;
  if (tokens !== null && limit !== null) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  return message.toLowerCase().startsWith('prompt is too long') ? message : `prompt is too long: ${message}`;
}
