import type { ErrorBody } from '../../contract/errors.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { entryOf } from '../core/table-entry.ts';
import type { Overflow } from '../core/upstream-error.ts';

interface ErrorFields extends Pick<ErrorBody, 'message' | 'type' | 'code'> {
  /** The status that OpenAI's API would send, which determines the status of an invalid request. */
  status?: number;
  retryAfterSeconds?: number | null;
  overflow?: Overflow;
}

/** `google.rpc.Code` and HTTP status for the error codes of OpenAI and Sluice. Source: Google, "Troubleshooting". */
const ofCode: Record<string, [status: string, http: number]> = {
  invalid_api_key: ['INVALID_ARGUMENT', 400],
  key_disabled: ['PERMISSION_DENIED', 403],
  key_expired: ['PERMISSION_DENIED', 403],
  permission_denied: ['PERMISSION_DENIED', 403],
  host_not_allowed: ['PERMISSION_DENIED', 403],
  origin_not_allowed: ['PERMISSION_DENIED', 403],
  price_unknown: ['PERMISSION_DENIED', 403],
  model_not_found: ['NOT_FOUND', 404],
  models_unknown: ['UNAVAILABLE', 503],
  unknown_url: ['NOT_FOUND', 404],
  not_found: ['NOT_FOUND', 404],
  insufficient_quota: ['RESOURCE_EXHAUSTED', 429],
  rate_limit_exceeded: ['RESOURCE_EXHAUSTED', 429],
  slow_down: ['RESOURCE_EXHAUSTED', 429],
  upstream_timeout: ['DEADLINE_EXCEEDED', 504],
  no_healthy_provider: ['UNAVAILABLE', 503],
  server_overloaded: ['UNAVAILABLE', 503],
  overloaded: ['UNAVAILABLE', 503],
  shutting_down: ['UNAVAILABLE', 503],
  storage_unavailable: ['UNAVAILABLE', 503],
  shared_counts_unavailable: ['UNAVAILABLE', 503],
  upstream_unreachable: ['UNAVAILABLE', 503],
  upstream_malformed: ['UNAVAILABLE', 503],
  upstream_stream_broken: ['UNAVAILABLE', 503],
  // Google's clients retry after every 5xx, which would be futile here.
  provider_credential_refused: ['FAILED_PRECONDITION', 400],
  provider_rate_limited: ['RESOURCE_EXHAUSTED', 429],
  provider_quota_exhausted: ['FAILED_PRECONDITION', 400],
  purchase_outcome_unknown: ['FAILED_PRECONDITION', 400],
  upstream_redirected: ['FAILED_PRECONDITION', 400],
};

/** For the statuses from 400 to 499 whose code says no more. All others are of requests that are invalid. */
const nameOfStatus: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  424: 'INTERNAL',
  425: 'UNAVAILABLE',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
};

const ofType: Record<string, [status: string, http: number]> = {
  invalid_request_error: ['INVALID_ARGUMENT', 400],
  requests: ['RESOURCE_EXHAUSTED', 429],
  tokens: ['RESOURCE_EXHAUSTED', 429],
  rate_limit_error: ['RESOURCE_EXHAUSTED', 429],
  insufficient_quota: ['RESOURCE_EXHAUSTED', 429],
};

/** The error as a response body, and as the data of an event. */
export function writeGeminiError(error: ErrorFields): string {
  const [status, code] = statusOf(error);
  const details = detailsOf(error);
  return JSON.stringify({ error: { code, message: wordsOf(error), status, ...(details.length > 0 && { details }) } });
}

/** The HTTP status with which Gemini's API sends the error. */
export function geminiErrorStatus(error: ErrorFields): number {
  return statusOf(error)[1];
}

function statusOf({ code, type, status }: ErrorFields): [status: string, http: number] {
  const byCode = entryOf(ofCode, code);
  if (byCode) return byCode;
  if (status !== undefined && status < 500) return [nameOfStatus[status] ?? 'INVALID_ARGUMENT', status];
  if (status === 503) return ['UNAVAILABLE', status];
  return entryOf(ofType, type) ?? ['INTERNAL', 500];
}

function detailsOf({ code, retryAfterSeconds }: ErrorFields): object[] {
  if (code === 'invalid_api_key') return [keyDetail];
  if (code === 'insufficient_quota') return [quotaDetail];
  if (retryAfterSeconds === undefined || retryAfterSeconds === null) return [];
  return [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }];
}

/** gemini-cli recognises an exhausted quota by this detail, and does not retry it as it would a rate limit. */
const quotaDetail = {
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId: 'BudgetPerDay' }],
};

/** Google's clients recognise a rejected key by this reason, since its status is that of a bad request. */
const keyDetail = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'API_KEY_INVALID',
  domain: 'googleapis.com',
};

/** gemini-cli compacts a conversation when it finds this wording. */
function wordsOf(error: ErrorFields): string {
  const overflow = error.overflow ?? overflowIn(error);
  if (overflow === null) return error.message;
  const { tokens, limit } = overflow;
  const said = tokens === null || limit === null ? ` ${error.message}` : '';
  return `The input token count${inBrackets(tokens)} exceeds the maximum number of tokens allowed${inBrackets(limit)}.${said}`;
}

function inBrackets(number: number | null): string {
  return number === null ? '' : ` (${number})`;
}
