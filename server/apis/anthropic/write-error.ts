import type { ErrorBody } from '../../contract/errors.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { entryOf } from '../core/table-entry.ts';

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

type ErrorFields = Pick<ErrorBody, 'message' | 'type' | 'code'>;

/** The error as a response body, and as the data of an `error` event. */
export function writeAnthropicError(error: ErrorFields): string {
  const type = anthropicErrorType(error);
  const details = error.code !== null && detailedCodes.has(error.code) ? { details: { error_code: error.code } } : {};
  return JSON.stringify({ type: 'error', error: { type, message: wordsOf(error), ...details } });
}

/** Codes that clients act on. Anthropic's API has a place for them since its versions of 2026 (`error.details.error_code`). */
const detailedCodes = new Set(['purchase_outcome_unknown', 'thread_not_found', 'thread_unsupported_request']);

export function anthropicErrorType({ type, code }: ErrorFields): string {
  return (
    entryOf(typeOfCode, code) ??
    entryOf(typeOfType, type) ??
    (code === 'context_length_exceeded' ? 'invalid_request_error' : 'api_error')
  );
}

/** The HTTP status with which Anthropic's API sends the error. @param otherStatus for an error that has no type there */
export function anthropicErrorStatus(error: ErrorFields, otherStatus = 500): number {
  const type = anthropicErrorType(error);
  return type === 'api_error' && otherStatus >= 500 ? otherStatus : (entryOf(statusOfType, type) ?? 500);
}

/** Claude Code compacts a conversation when it finds this wording with both numbers. */
function wordsOf(error: ErrorFields): string {
  const overflow = overflowIn(error);
  return overflow ? `prompt is too long: ${overflow.tokens} tokens > ${overflow.limit} maximum` : error.message;
}
