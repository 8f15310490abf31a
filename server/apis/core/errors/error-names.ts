/**
 * The names that services give their errors (`type`, `code`, Google's `status`, Bedrock's exceptions), with what they mean and
 * the status that belongs to them.
 */

import { type BoundedPattern, boundedPattern } from '../../../ground/bounded-pattern.ts';
import { findMember } from '../../json/json-peek.ts';
import { entryOf } from '../table-entry.ts';
import type { UpstreamError } from '../upstream-error.ts';
import type { NamingMember } from '../wire.ts';

/** What an error means. `verdict.ts` says what the router and the clients make of each. */
export type Meaning =
  /** The request is at fault, or its content, the object it names, its size in bytes; a loop of gateways; a job's state. */
  | 'invalid'
  | 'policy'
  | 'missing'
  | 'oversize'
  | 'loop'
  | 'clash'
  /** The service lacks the route; another one may have it. */
  | 'no-route'
  /** The model's context is full; the request is larger than this API takes. */
  | 'context'
  | 'large'
  /** No such model; not with this account; not in this country; not this kind of request; never within the account's rate. */
  | 'no-model'
  | 'denied'
  | 'region'
  | 'unsupported'
  | 'never-fits'
  /** The key is wrong; the account lacks a right; its money is spent; it asks too often. */
  | 'credential'
  | 'right'
  | 'quota'
  | 'rate'
  /** The service has a problem that may pass. */
  | 'not-ready'
  | 'conflict'
  | 'timeout'
  | 'overloaded'
  | 'failed'
  /** Not the service but something on the way has answered. */
  | 'page'
  | 'proxy-size';

interface Named {
  meaning: Meaning;
  status: number;
}

function each(names: readonly string[], meaning: Meaning, status: number): Record<string, Named> {
  return Object.fromEntries(names.map((name) => [name, { meaning, status }]));
}

const byName: Record<string, Named> = {
  ...each(['invalid_request_error', 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 'ValidationException'], 'invalid', 400),
  ...each(['BadRequestError', 'BadRequest', 'Bad Request', 'bad_request'], 'invalid', 400),
  ...each(['FAILED_PRECONDITION'], 'unsupported', 400),
  ...each(['UNIMPLEMENTED'], 'unsupported', 501),
  ...each(['authentication_error', 'invalid_api_key', 'UNAUTHENTICATED'], 'credential', 401),
  ...each(['UnrecognizedClientException', 'ExpiredTokenException', 'InvalidSignatureException'], 'credential', 403),
  ...each(['permission_error', 'PERMISSION_DENIED', 'AccessDeniedException'], 'right', 403),
  ...each(['billing_error'], 'quota', 402),
  ...each(['insufficient_quota'], 'quota', 429),
  ...each(['not_found_error', 'NOT_FOUND', 'ResourceNotFoundException', 'model_not_found'], 'no-model', 404),
  ...each(['request_too_large'], 'large', 413),
  ...each(['rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED', 'ThrottlingException'], 'rate', 429),
  ...each(['ServiceQuotaExceededException'], 'rate', 400),
  ...each(['ModelNotReadyException'], 'not-ready', 429),
  ...each(['conflict_error', 'ABORTED'], 'conflict', 409),
  ...each(['timeout_error', 'DEADLINE_EXCEEDED'], 'timeout', 504),
  ...each(['ModelTimeoutException'], 'timeout', 408),
  ...each(['overloaded_error'], 'overloaded', 529),
  ...each(['UNAVAILABLE', 'ServiceUnavailableException', 'server_overloaded'], 'overloaded', 503),
  ...each(['server_error', 'INTERNAL', 'UNKNOWN', 'InternalServerException'], 'failed', 500),
  ...each(['ModelErrorException', 'ModelStreamErrorException'], 'failed', 424),
  ...each(['CANCELLED'], 'failed', 499),
  ...each(['api_error'], 'failed', 502),
};

export function named(name: string): Named | undefined {
  return entryOf(byName, name);
}

export const rateName = boundedPattern(/rate_?limit|too_many_requests|resource_exhausted|throttl|slow_down/i);

const policyName = boundedPattern(/content_policy|content_filter|moderation|safety|policy_violation|flagged/i);
/**
 * OpenAI's codes for an unacceptable prompt or file, with or without a status (`ResponseError.code`): no other target
 * would accept it either.
 */
const requestCode = boundedPattern(
  /^(?:\w{1,40}_policy(?:_violation)?|invalid_prompt|data_residency_mismatch|(?:invalid|empty|unsupported)_(?:\w{1,40}_)?(?:image|audio|file|media)(?:_\w{1,40})?|(?:image|audio|video|file)_(?:\w{1,40}_)?(?:too_(?:large|small|long|short)|parse_error|not_found)|failed_to_download_\w{1,40})$/i,
);

/** Whether the name blames the prompt or a file, whatever the status. */
export function isRequestCode(name: string): boolean {
  return requestCode.test(name);
}

/** Whether the name blames the content of the request. */
export function isPolicyName(name: string): boolean {
  return policyName.test(name);
}

/** Whether an error of this name, at the end of a stream, blames the request itself. */
export function isRequestError(name: string): boolean {
  return isRequestCode(name) || isPolicyName(name) || named(name)?.meaning === 'invalid';
}

/** The status that an error should have had if it arrived with status 200 or in a stream. */
export function statusOfError({ type, code }: Pick<UpstreamError, 'type' | 'code'>): number {
  const number = Number(code);
  if (Number.isInteger(number) && number >= 400 && number <= 599) return number;
  const name = code || type;
  if (isRequestCode(name) || isPolicyName(name)) return 400;
  const status = statusByName(code) ?? statusByName(type) ?? 502;
  // If the code is unknown, the error's type shows whether the request is at fault.
  return status >= 500 && type === 'invalid_request_error' && !servicesCode.test(code) ? 400 : status;
}

function statusByName(name: string): number | undefined {
  return named(name)?.status ?? statusPatterns.find(([words]) => words.test(name))?.[1];
}

const servicesCode = boundedPattern(
  /^(?:server_error|internal_(?:server_)?error|\w{0,40}overloaded\w{0,40}|service_unavailable)$/i,
);

const statusPatterns: readonly (readonly [BoundedPattern, number])[] = [
  [boundedPattern(/insufficient_quota|credit_balance|insufficient_balance/i), 429],
  [rateName, 429],
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

/** The name of the error at the end of a stream; null if it has none. */
export function errorNameIn(text: string, member: NamingMember): string | null {
  const from = text.lastIndexOf('"error":');
  return from === -1 ? null : (findMember(text, member, shortText, from)?.value ?? null);
}
