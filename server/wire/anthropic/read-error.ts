/** What kind of failure an error of Anthropic's API is. Source: Anthropic, "Errors". */

import { pattern } from '../../bounded-pattern.ts';
import type { FailureClass } from '../../contract/ledger.ts';
import { overflowIn } from '../context-overflow.ts';
import type { Failure } from '../failure.ts';
import { findMember } from '../json/find-member.ts';
import { entryOf } from '../table-entry.ts';
import type { UpstreamError } from '../upstream-error.ts';
import type { ErrorFormat, FailedAnswer } from '../wire.ts';
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

function classify({ status, headers, error }: FailedAnswer): Failure {
  const byStatus = entryOf(classOfStatus, String(status)) ?? (status >= 500 ? 'transient' : 'rejected');
  const found = error && overflowIn(error) ? 'too-large' : (entryOf(classOfType, error?.type) ?? byStatus);
  const retryable = (found === 'transient' || found === 'rate-limit') && headers['x-should-retry'] !== 'false';
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return { class: found, retryable, retryAfterMs: seconds >= 0 ? seconds * 1000 : null };
}

/** Of an error in a 200, or in a stream's event. */
export function statusOfError(error: UpstreamError): number {
  return anthropicErrorStatus({ ...error, code: null }, 502);
}

const shortText = pattern(/^\s*:\s*"([^"\\]{1,100})"/);

/** An error's `type` is its name. */
function codeIn(end: string): string | null {
  const from = end.lastIndexOf('"error":');
  return from === -1 ? null : (findMember(end, 'type', shortText, from)?.value ?? null);
}

export const anthropicErrors: ErrorFormat = {
  classify,
  statusOf: statusOfError,
  isRequestsOwn: (code) => code === 'invalid_request_error',
  codeIn,
};
