/** Classifies errors of Gemini's API. Source: Google, "Troubleshooting guide" and `google.rpc.Code`. */

import type { FailureClass } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { readRetryAfter } from '../core/errors/retry-after.ts';
import type { Failure } from '../core/failure.ts';
import { entryOf } from '../core/table-entry.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import type { ErrorFormat, FailedAnswer } from '../core/wire.ts';
import { findMember } from '../json/find-member.ts';

const classOfType: Record<string, FailureClass> = {
  INVALID_ARGUMENT: 'rejected',
  OUT_OF_RANGE: 'rejected',
  UNAUTHENTICATED: 'credential',
  PERMISSION_DENIED: 'credential',
  NOT_FOUND: 'model-unavailable',
  UNIMPLEMENTED: 'model-unavailable',
  RESOURCE_EXHAUSTED: 'rate-limit',
  ABORTED: 'transient',
  CANCELLED: 'transient',
  INTERNAL: 'transient',
  UNKNOWN: 'transient',
  UNAVAILABLE: 'transient',
  DEADLINE_EXCEEDED: 'transient',
};

const classOfStatus: Record<string, FailureClass> = {
  401: 'credential',
  403: 'credential',
  404: 'model-unavailable',
  408: 'transient',
  409: 'transient',
  413: 'too-large',
  429: 'rate-limit',
  499: 'transient',
};

/** An invalid key is reported as INVALID_ARGUMENT. */
const keyWords = boundedPattern(/^API key (?:not valid|expired|not found)/);
/** Distinguishes a free tier that needs billing from "User location is not supported for the API use.". */
const billingWords = boundedPattern(/billing|free tier|prepa(?:id|yment)/i);

function classify({ status, headers, error }: FailedAnswer): Failure {
  const failureClass = classOf(status, error);
  const retryable = failureClass === 'transient' || failureClass === 'rate-limit';
  return { class: failureClass, retryable, retryAfterMs: error?.retryAfterMs ?? readRetryAfter(headers) };
}

function classOf(status: number, error: UpstreamError | null): FailureClass {
  const { type = '', message = '' } = error ?? {};
  if (error && overflowIn(error)) return 'too-large';
  if (keyWords.test(message)) return 'credential';
  // Prepaid credit is used up.
  if (status === 402) return 'quota';
  if (type === 'FAILED_PRECONDITION') return billingWords.test(message) ? 'quota' : 'model-unavailable';
  const byStatus = entryOf(classOfStatus, String(status)) ?? (status >= 500 ? 'transient' : 'rejected');
  return entryOf(classOfType, type) ?? byStatus;
}

const statusOfType: Record<string, number> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

/** The HTTP status of an error within a 200 or a stream event; its `code` holds it. */
function statusOf({ code, type }: UpstreamError): number {
  const number = Number(code);
  return Number.isInteger(number) && number >= 400 && number <= 599 ? number : (entryOf(statusOfType, type) ?? 502);
}

const shortText = boundedPattern(/^\s*:\s*"([^"\\]{1,100})"/);

/** Reads the error's `status`, which is its name. */
function codeIn(end: string): string | null {
  const from = end.lastIndexOf('"error"');
  return from === -1 ? null : (findMember(end, 'status', shortText, from)?.value ?? null);
}

export const geminiErrors: ErrorFormat = {
  classify,
  statusOf,
  isRequestError: (code) => code === 'INVALID_ARGUMENT',
  codeIn,
};
