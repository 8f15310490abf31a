/** The errors that faults inject, worded as in OpenAI's API; each API's `writeError` converts them to its own format. */
import { type ErrorKind, GatewayError } from '../contract/errors.ts';
import type { errorStatuses, FaultOf, InsteadFault } from './fault-kinds.ts';

/** An error that a rule injected, and that no provider sent. */
class InjectedError extends GatewayError {
  readonly #kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, retryAfterSeconds: number | undefined) {
    super('internal', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.#kind = kind;
  }

  override get kind(): ErrorKind {
    return this.#kind;
  }
}

type ErrorFault = Exclude<InsteadFault, FaultOf<'reset' | 'silence' | 'html'>>;
type Status = (typeof errorStatuses)[number];
type ErrorDetails = [type: string, code: string | null, message: string];

const invalid = 'invalid_request_error';

const errorDetails: Readonly<Record<Status, ErrorDetails>> = {
  400: [invalid, 'invalid_value', 'The request is invalid.'],
  401: [invalid, 'invalid_api_key', 'Incorrect API key provided.'],
  403: [invalid, 'permission_denied', 'You are not allowed to use this model.'],
  404: [invalid, 'model_not_found', 'The model does not exist or you do not have access to it.'],
  408: [invalid, 'request_timeout', 'The request took too long to arrive.'],
  409: [invalid, 'conflict', 'The request conflicts with another one.'],
  413: [invalid, 'request_too_large', 'The request is too large.'],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached for requests.'],
  500: ['server_error', null, 'The server had an error while processing your request.'],
  502: ['server_error', null, 'Bad gateway.'],
  503: ['server_error', 'server_overloaded', 'The engine is currently overloaded, please try again later.'],
  504: ['server_error', 'upstream_timeout', 'The upstream did not answer in time.'],
  529: ['server_error', 'server_overloaded', 'Overloaded.'],
};

const quota: ErrorDetails = ['insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'];
const overflow: ErrorDetails = [
  invalid,
  'context_length_exceeded',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 190000 tokens.",
];

/** The error and the status with which it is sent. */
export function errorOf(fault: ErrorFault): InjectedError {
  switch (fault.name) {
    case 'status':
      return make(fault.code, errorDetails[fault.code], fault['retry-after']);
    case 'rate-limit':
      return make(429, errorDetails[429], fault['retry-after']);
    case 'overloaded':
      // Only Anthropic's API has the status 529, which it uses for this code.
      return make(503, errorDetails[503], fault['retry-after']);
    case 'quota':
      return make(429, quota, undefined);
    case 'context-overflow':
      return make(400, overflow, undefined);
  }
}

function make(
  status: number,
  [type, code, message]: ErrorDetails,
  retryAfterSeconds: number | undefined,
): InjectedError {
  // SDKs retry every 429 unless the response forbids it, as Sluice does for an exhausted quota.
  const kind = { status, type, code, ...(code === 'insufficient_quota' && { retryable: false as const }) };
  return new InjectedError(kind, `${message} (A fault on purpose: Sluice asked no provider.)`, retryAfterSeconds);
}
