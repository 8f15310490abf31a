/**
 * Sluice's own errors. Status, `type` and `code` are as in the OpenAI API, so that its SDKs raise the right exception
 * and retry only if that can help.
 */

import type { ControlProblem } from './control-problem.ts';

export interface ErrorKind {
  status: number;
  /** OpenAI's `type`. */
  type: string;
  /** OpenAI's `code`. */
  code: string | null;
  /** OpenAI's SDKs retry 408, 409, 429 and 5xx; `false` sends `x-should-retry: false`, which stops them. */
  retryable?: false;
}

const invalid = 'invalid_request_error';

/** The provider may have made, and billed, what the request asked for; repeating it may buy it twice. */
export const lostPurchaseCode = 'purchase_outcome_unknown';

export const errorKinds = {
  missing_key: { status: 401, type: invalid, code: null },
  invalid_key: { status: 401, type: invalid, code: 'invalid_api_key' },
  key_disabled: { status: 401, type: invalid, code: 'key_disabled' },
  key_expired: { status: 401, type: invalid, code: 'key_expired' },
  host_refused: { status: 403, type: invalid, code: 'host_not_allowed' },
  origin_refused: { status: 403, type: invalid, code: 'origin_not_allowed' },
  control_refused: { status: 403, type: invalid, code: 'admin_token_required' },
  unknown_url: { status: 404, type: invalid, code: 'unknown_url' },
  method_not_allowed: { status: 405, type: invalid, code: 'method_not_allowed' },
  model_not_found: { status: 404, type: invalid, code: 'model_not_found' },
  /** A provider's list of models could not be had so far. */
  models_unknown: { status: 503, type: 'server_error', code: 'models_unknown' },
  replay_miss: { status: 404, type: invalid, code: 'replay_miss', retryable: false },
  /** The cassette's folder or a file in it cannot be used. */
  cassette_unusable: { status: 503, type: 'server_error', code: 'cassette_unusable', retryable: false },
  model_missing: { status: 400, type: invalid, code: null },
  upgrade_required: { status: 426, type: invalid, code: 'upgrade_required', retryable: false },
  malformed_http: { status: 400, type: invalid, code: null },
  malformed_json: { status: 400, type: invalid, code: null },
  malformed_multipart: { status: 400, type: invalid, code: null },
  unsupported_media_type: { status: 415, type: invalid, code: 'unsupported_content_type' },
  invalid_value: { status: 400, type: invalid, code: 'invalid_value' },
  too_large: { status: 413, type: invalid, code: 'request_too_large' },
  too_many_parts: { status: 400, type: invalid, code: 'too_many_parts' },
  headers_too_large: { status: 431, type: invalid, code: 'headers_too_large' },
  request_timeout: { status: 408, type: invalid, code: 'request_timeout', retryable: false },
  request_limit_reached: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  token_limit_reached: { status: 429, type: 'tokens', code: 'rate_limit_exceeded' },
  budget_spent: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', retryable: false },
  /** The user has stopped the session: see `session.stop`. */
  session_stopped: { status: 400, type: invalid, code: 'session_stopped', retryable: false },
  /** See `settings.sessionBudget`. */
  session_budget_spent: { status: 400, type: invalid, code: 'session_budget_spent', retryable: false },
  overloaded: { status: 429, type: 'rate_limit_error', code: 'slow_down' },
  /** This machine has no descriptors, ports or memory left; see `ground/resource-exhaustion.ts`. */
  machine_overloaded: { status: 503, type: 'server_error', code: 'overloaded' },
  price_unknown: { status: 403, type: invalid, code: 'price_unknown' },
  passthrough_refused: { status: 403, type: invalid, code: 'passthrough_refused' },
  job_not_found: { status: 404, type: invalid, code: null },
  /** Anthropic's SDKs then send the whole conversation, in a new thread. */
  thread_not_found: { status: 404, type: invalid, code: 'thread_not_found' },
  /** Anthropic's SDKs then go on without a thread. */
  thread_unsupported_request: { status: 400, type: invalid, code: 'thread_unsupported_request' },
  previous_response_not_found: { status: 400, type: invalid, code: 'previous_response_not_found' },
  no_healthy_provider: { status: 503, type: 'server_error', code: 'no_healthy_provider', retryable: false },
  provider_credential_refused: {
    status: 502,
    type: 'server_error',
    code: 'provider_credential_refused',
    retryable: false,
  },
  /** The provider has told when to come again, and is not asked before. */
  provider_rate_limited: { status: 429, type: 'requests', code: 'provider_rate_limited' },
  provider_quota_exhausted: { status: 502, type: 'server_error', code: 'provider_quota_exhausted', retryable: false },
  upstream_unreachable: { status: 502, type: 'server_error', code: 'upstream_unreachable' },
  upstream_redirected: { status: 502, type: 'server_error', code: 'upstream_redirected', retryable: false },
  upstream_timeout: { status: 504, type: 'server_error', code: 'upstream_timeout' },
  upstream_malformed: { status: 502, type: 'server_error', code: 'upstream_malformed' },
  upstream_stream_broken: { status: 502, type: 'server_error', code: 'upstream_stream_broken' },
  purchase_outcome_unknown: { status: 502, type: 'server_error', code: lostPurchaseCode, retryable: false },
  loop_detected: { status: 508, type: 'server_error', code: 'loop_detected', retryable: false },
  shutting_down: { status: 503, type: 'server_error', code: 'shutting_down' },
  storage_full: { status: 507, type: 'server_error', code: 'storage_full', retryable: false },
  storage_unavailable: { status: 503, type: 'server_error', code: 'storage_unavailable' },
  /** A hard budget cannot be checked while Valkey cannot be used; see `settings.sharedCounts`. */
  shared_counts_unavailable: { status: 503, type: 'server_error', code: 'shared_counts_unavailable' },
  internal: { status: 500, type: 'server_error', code: null },
  // Control plane only.
  invalid_command: { status: 400, type: invalid, code: 'invalid_command' },
  not_found: { status: 404, type: invalid, code: 'not_found' },
  conflict: { status: 409, type: invalid, code: 'conflict', retryable: false },
  /** The signed-in person or the token lacks the right. */
  forbidden: { status: 403, type: invalid, code: 'forbidden' },
  /** The caller is not signed in. */
  not_signed_in: { status: 401, type: invalid, code: 'not_signed_in' },
  /** The identity provider did not confirm the person's identity. */
  sign_in_failed: { status: 403, type: invalid, code: 'sign_in_failed' },
  /** Too many attempts to sign in from one address. */
  sign_in_limit: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  /** Locked by a team preset. */
  locked: { status: 403, type: invalid, code: 'locked' },
  read_only: { status: 409, type: invalid, code: 'read_only', retryable: false },
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** The `error` of an error response. */
export interface ErrorBody {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
  /** Control plane only: the reason in a form that the window can translate. */
  problem?: ControlProblem;
}

/**
 * An error that Sluice reports to its caller. `message` tells a person what happened and what to do, and contains no
 * secrets.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | null;
  /** Sent as `Retry-After`; null if waiting does not help or the time is unknown. */
  readonly retryAfterSeconds: number | null;
  /** Additional response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reason in a form that the window can translate; null if only the English message exists. */
  readonly problem: ControlProblem | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      param?: string | null;
      retryAfterSeconds?: number;
      headers?: Readonly<Record<string, string>>;
      problem?: ControlProblem;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
    this.problem = options.problem ?? null;
  }

  get kind(): ErrorKind {
    return errorKinds[this.code];
  }

  /** The response body in OpenAI's shape. */
  toBody(): { error: ErrorBody } {
    const { type, code } = this.kind;
    const body: ErrorBody = { message: this.message, type, param: this.param, code };
    return { error: this.problem ? { ...body, problem: this.problem } : body };
  }
}
