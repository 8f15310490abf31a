/**
 * Classifies errors by status and content; the only place that does (`docs/responses.md`). Pure; knows neither the
 * targets nor what happens next.
 */

import type { FailureClass } from '../../../contract/ledger.ts';
import { type BoundedPattern, boundedPattern } from '../../../ground/bounded-pattern.ts';
import { readRetryAfter } from '../../core/errors/retry-after.ts';
import type { Failure } from '../../core/failure.ts';
import type { UpstreamError } from '../../core/upstream-error.ts';
import type { ErrorFormat, FailedAnswer } from '../../core/wire.ts';
import { findMember } from '../../json/find-member.ts';

const quotaCode = boundedPattern(
  /^(?:insufficient_quota|credit_balance_exhausted|insufficient_balance|billing_\w+|quota_exceeded|402)$/i,
);
const quotaWords = boundedPattern(
  /credit balance|insufficient (?:balance|funds|credits?)|billing|out of credits|used all available credits/i,
);
const rateCode = boundedPattern(/rate_?limit|too_many_requests|resource_exhausted|throttl|slow_down/i);
const modelCode = boundedPattern(
  /model_not_found|model_not_supported|deploymentnotfound|unknown_url|unsupported_country_region_territory/i,
);
const contextCode = boundedPattern(/context_length_exceeded|context_window_exceeded|exceed_context_size/i);
const contextWords = boundedPattern(
  /(?:maximum|exceed|larger than|beyond|longer than)[^.]{0,60}context|context (?:length|window|size)[^.]{0,60}exceed|prompt is too long|input is too long|too many (?:input )?tokens/i,
);
const statedContext = boundedPattern(
  /(?:maximum context length is|context (?:window|length|size) of|n_ctx(?:_train)?\W{1,20}) ?(\d{3,9})/i,
);
/** Google (`API_KEY_INVALID`) and xAI (continuedev/continue#10778) reject a key with status 400. */
const keyWords = boundedPattern(
  /\b(?:incorrect|invalid|expired) api[ -]?key|\bapi[ -]?key (?:is )?(?:not valid|invalid|expired|not found)/i,
);
/** Of OpenAI's restricted keys: "You have insufficient permissions for this operation. Missing scopes: api.responses.write." */
const scopeWords = boundedPattern(/missing scopes/i);
/** "The model `o3` does not exist or you do not have access to it.", with status 404. */
const accessWords = boundedPattern(/you do not have access/i);
const policyCode = boundedPattern(/content_policy|content_filter|moderation|safety|policy_violation|flagged/i);
/**
 * OpenAI's codes for an unacceptable prompt or file, with or without a status (`ResponseError.code`): no other target
 * would accept it either.
 */
const requestCode = boundedPattern(
  /^(?:\w{1,40}_policy(?:_violation)?|invalid_prompt|data_residency_mismatch|(?:invalid|empty|unsupported)_(?:\w{1,40}_)?(?:image|audio|file|media)(?:_\w{1,40})?|(?:image|audio|video|file)_(?:\w{1,40}_)?(?:too_(?:large|small|long|short)|parse_error|not_found)|failed_to_download_\w{1,40})$/i,
);
const policyWords = boundedPattern(/flagged|moderation|content policy/i);
const modelWords = boundedPattern(/\bmodel\b|deployment/i);

/** Classifies a response with status 400 or above. */
export function classifyAnswer(answer: FailedAnswer): Failure {
  const error = answer.error && withoutRest(answer.error);
  const failureClass = classOf(answer, error);
  const retryAfterMs = readRetryAfter(answer.headers) ?? error?.retryAfterMs ?? null;
  const isPassing = (failureClass === 'transient' && answer.status !== 413) || failureClass === 'rate-limit';
  const retryable = isPassing && answer.headers['x-should-retry'] !== 'false';
  const statedTokens = failureClass === 'too-large' ? statedContext.exec(error?.message ?? '')?.[1] : undefined;
  const lacksOneRight = failureClass === 'credential' && scopeWords.test(error?.message ?? '');
  return {
    ...{ class: failureClass, retryable, retryAfterMs },
    ...(statedTokens !== undefined && { contextTokens: Number(statedTokens) }),
    ...(lacksOneRight && { lacksOneRight }),
    ...(failureClass === 'model-unavailable' && isDenied(answer.status, error) && { isDenied: true }),
  };
}

function isDenied(status: number, error: UpstreamError | null): boolean {
  const message = error?.message ?? '';
  return (status === 403 && modelWords.test(message)) || accessWords.test(message);
}

/** Keeps the beginning, which says what kind of error it is; services may echo the request after it. */
function withoutRest({ message, type, code, ...error }: UpstreamError): UpstreamError {
  const [shortMessage, kind, name] = [message, type, code].map((text) => text.slice(0, maxReadLength));
  return { ...error, message: shortMessage ?? '', type: kind ?? '', code: name ?? '' };
}

const maxReadLength = 1024;

function classOf({ status, isAboutJob }: FailedAnswer, error: UpstreamError | null): FailureClass {
  const code = error?.code || error?.type || '';
  if (contextCode.test(code)) return 'too-large';
  if (requestCode.test(code)) return 'rejected';
  if (status === 402 || quotaCode.test(code)) return 'quota';
  if (status === 429) return error?.retryAfterMs === null && quotaWords.test(error.message) ? 'quota' : 'rate-limit';
  if (status === 408 || status === 425 || status === 499 || (status === 409 && !isAboutJob)) return 'transient';
  if (status === 501 || status === 405) return 'model-unavailable';
  // A loop of gateways, which each further attempt would extend.
  if (status === 508) return 'rejected';
  if (status >= 500) return contextWords.test(error?.message ?? '') ? 'too-large' : 'transient';
  return classOfRefusal(status, isAboutJob, error);
}

/** The remaining statuses from 400 to 499: usually the fault of the request, sometimes of the account or the model. */
function classOfRefusal(status: number, isAboutJob: boolean, error: UpstreamError | null): FailureClass {
  const { message = '', type = '', code = '' } = error ?? {};
  if (policyCode.test(code) || policyCode.test(type)) return 'rejected';
  if (modelCode.test(code)) return isAboutJob ? 'rejected' : 'model-unavailable';
  if ((status === 400 || status === 403) && quotaWords.test(message)) return 'quota';
  if (status === 401 || (status === 400 && keyWords.test(message))) return 'credential';
  if (status === 403 && policyWords.test(message)) return 'rejected';
  // One model that the account may not use: "No access to model: openai/o3" of GitHub Models.
  if (status === 403) return modelWords.test(message) ? 'model-unavailable' : 'credential';
  if (status === 404 && !isAboutJob) return isAboutModel(error) ? 'model-unavailable' : 'rejected';
  if (status === 413 && rateCode.test(code)) return 'model-unavailable';
  // From a proxy in front of the service; another target's may accept more.
  if (status === 413 && !error) return 'transient';
  if ((status === 400 || status === 413 || status === 422) && contextWords.test(message)) return 'too-large';
  return 'rejected';
}

/** A 404 that names another parameter, such as a file, is about that. */
function isAboutModel(error: UpstreamError | null): boolean {
  return !error || error.param === null || error.param === 'model' || modelWords.test(error.message);
}

/** The status that an error should have had if it arrived with status 200 or in a stream. */
export function statusOfError(error: UpstreamError): number {
  const number = Number(error.code);
  if (Number.isInteger(number) && number >= 400 && number <= 599) return number;
  if (isRequestError(error.code || error.type)) return 400;
  const status = statusByName(error.code) ?? statusByName(error.type) ?? 502;
  // If the code is unknown, the error's type shows whether the request is at fault.
  return status >= 500 && error.type === 'invalid_request_error' && !servicesCode.test(error.code) ? 400 : status;
}

/** Whether the error code blames the request itself. */
function isRequestError(code: string): boolean {
  return requestCode.test(code) || policyCode.test(code);
}

function statusByName(name: string): number | undefined {
  return statusPatterns.find(([words]) => words.test(name))?.[1];
}

const servicesCode = boundedPattern(
  /^(?:server_error|internal_(?:server_)?error|\w{0,40}overloaded\w{0,40}|service_unavailable)$/i,
);

const statusPatterns: readonly (readonly [BoundedPattern, number])[] = [
  [boundedPattern(/insufficient_quota|credit_balance|insufficient_balance/i), 429],
  [boundedPattern(/rate_?limit|too_many_requests|resource_exhausted|slow_down/i), 429],
  [boundedPattern(/overloaded|unavailable/i), 503],
  [boundedPattern(/billing|payment/i), 402],
  [boundedPattern(/authentication|invalid_api_key|unauthenticated/i), 401],
  [boundedPattern(/permission/i), 403],
  [boundedPattern(/not_found/i), 404],
  [boundedPattern(/timeout|deadline/i), 504],
  [boundedPattern(/context_length|content_policy|content_filter|moderation|policy_violation|invalid_/i), 400],
  [boundedPattern(/server_error|internal|api_error/i), 500],
];

const shortText = boundedPattern(/^\s*:\s*"([^"\\]{1,100})"/);

/** The code of the error at the end of a stream. */
export function errorCodeIn(text: string): string | null {
  const from = text.indexOf('"error"');
  return from === -1 ? null : (findMember(text, 'code', shortText, from)?.value ?? null);
}

export const openaiErrors: ErrorFormat = {
  classify: classifyAnswer,
  statusOf: statusOfError,
  isRequestError,
  codeIn: errorCodeIn,
};
