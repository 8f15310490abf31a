/** Classifies errors of Anthropic's API. Source: Anthropic, "Errors". */

import type { FailureClass } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { readRetryAfter } from '../core/errors/retry-after.ts';
import type { Failure } from '../core/failure.ts';
import { entryOf } from '../core/table-entry.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import type { ErrorFormat, FailedAnswer } from '../core/wire.ts';
import { findMember } from '../json/find-member.ts';
import { anthropicErrorStatus } from './write-error.ts';

const classOfType: Record<string, FailureClass> = {
  invalid_request_error: 'rejected',
  authentication_error: 'credential',
  permission_error: 'credential',
  billing_error: 'quota',
  not_found_error: 'model-unavailable',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limit',
  conflict_error: 'transient',
  api_error: 'transient',
  timeout_error: 'transient',
  overloaded_error: 'transient',
};

const classOfStatus: Record<string, FailureClass> = {
  401: 'credential',
  402: 'quota',
  403: 'credential',
  404: 'model-unavailable',
  408: 'transient',
  409: 'transient',
  413: 'too-large',
  429: 'rate-limit',
};

/**
 * An account without credit, or at the limit that its owner has set, is reported with 400 `invalid_request_error`: "Your
 * credit balance is too low to access the Anthropic API", "You have reached your specified API usage limits"
 * (anthropics/claude-code#5300); an enforced limit is reported with 429 and this code.
 */
const accountWords = boundedPattern(/credit balance is too low|specified (?:API|workspace API) usage limits/i);
/**
 * "Invalid `signature` in `thinking` block", "Expected `thinking` or `redacted_thinking`, but found `tool_use`", "`thinking` or
 * `redacted_thinking` blocks in the latest assistant message cannot be modified", "thinking.signature: Field required"
 * (tombii/better-ccflare#52, BerriAI/litellm#15601, anomalyco/opencode#25005).
 */
const reasoningWords = boundedPattern(
  /Invalid `signature` in `thinking`|Expected `(?:redacted_)?thinking`|`thinking` or `redacted_thinking` blocks|thinking\.signature: Field required/,
);
/** `model: claude-opus-6` */
const modelWord = boundedPattern(/\bmodels?\b/i);
const spendLimitCode = 'enforced_spend_limit_reached';

/** Errors may echo the request after their first words. */
const maxReadLength = 1024;

function classify({ status, headers, error, isAboutJob }: FailedAnswer): Failure {
  const shortened = error && { ...error, message: error.message.slice(0, maxReadLength) };
  const overflow = shortened && overflowIn(shortened);
  const failureClass = overflow ? 'too-large' : classOf(status, shortened, isAboutJob);
  const retryable =
    (failureClass === 'transient' || failureClass === 'rate-limit') && headers['x-should-retry'] !== 'false';
  const failure: Failure = { class: failureClass, retryable, retryAfterMs: readRetryAfter(headers) };
  if (status === 400 && shortened && reasoningWords.test(shortened.message))
    return { ...failure, refusesReasoning: true };
  if (status === 403 && failureClass === 'model-unavailable') return { ...failure, isDenied: true };
  return overflow ? { ...failure, contextTokens: overflow.limit } : failure;
}

function classOf(status: number, error: UpstreamError | null, isAboutJob: boolean): FailureClass {
  if (error && (error.code === spendLimitCode || accountWords.test(error.message))) return 'quota';
  // The missing object may be a file, or the one named in the path.
  if (status === 404 && (isAboutJob || (error && !modelWord.test(error.message)))) return 'rejected';
  if (status === 409 && isAboutJob) return 'rejected';
  // One model that the account may not use: "You don't have access to the model with the specified model ID." of Bedrock.
  if (status === 403 && error && modelWord.test(error.message)) return 'model-unavailable';
  const byStatus = entryOf(classOfStatus, String(status)) ?? (status >= 500 ? 'transient' : 'rejected');
  return entryOf(classOfType, error?.type) ?? byStatus;
}

/** For an error in a response with status 200, or in an event of a stream. */
export function statusOfError(error: UpstreamError): number {
  return anthropicErrorStatus({ ...error, code: null }, 502);
}

const shortText = boundedPattern(/^\s*:\s*"([^"\\]{1,100})"/);

/** An error's `type` serves as its code. */
function codeIn(end: string): string | null {
  const from = end.lastIndexOf('"error":');
  return from === -1 ? null : (findMember(end, 'type', shortText, from)?.value ?? null);
}

export const anthropicErrors: ErrorFormat = {
  classify,
  statusOf: statusOfError,
  isRequestError: (code) => code === 'invalid_request_error',
  codeIn,
};
