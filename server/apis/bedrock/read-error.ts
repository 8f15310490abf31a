/**
 * Classifies errors of Amazon Bedrock, whose type is the name of its exception. Source: Amazon Bedrock API reference, "Converse"
 * and "ConverseStream", Errors; AWS, "Common error types".
 */

import type { FailureClass } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { readRetryAfter } from '../core/errors/retry-after.ts';
import type { Failure } from '../core/failure.ts';
import { entryOf } from '../core/table-entry.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import type { ErrorFormat, FailedAnswer } from '../core/wire.ts';
import { findMember } from '../json/find-member.ts';

interface Meaning {
  class: FailureClass;
  /** The status with which Bedrock sends it. */
  status: number;
}

const meanings: Record<string, Meaning> = {
  ValidationException: { class: 'rejected', status: 400 },
  AccessDeniedException: { class: 'credential', status: 403 },
  UnrecognizedClientException: { class: 'credential', status: 403 },
  ExpiredTokenException: { class: 'credential', status: 403 },
  InvalidSignatureException: { class: 'credential', status: 403 },
  ResourceNotFoundException: { class: 'model-unavailable', status: 404 },
  ThrottlingException: { class: 'rate-limit', status: 429 },
  ServiceQuotaExceededException: { class: 'rate-limit', status: 400 },
  ModelNotReadyException: { class: 'transient', status: 429 },
  ModelTimeoutException: { class: 'transient', status: 408 },
  ModelErrorException: { class: 'transient', status: 424 },
  ModelStreamErrorException: { class: 'transient', status: 424 },
  InternalServerException: { class: 'transient', status: 500 },
  ServiceUnavailableException: { class: 'transient', status: 503 },
};

const classOfStatus: Record<string, FailureClass> = {
  401: 'credential',
  403: 'credential',
  404: 'model-unavailable',
  408: 'transient',
  413: 'too-large',
  424: 'transient',
  429: 'rate-limit',
};

/** "This model doesn't support the image content block that you provided." Another model may. */
const modelWords = boundedPattern(/^This model doesn['’]t support/);
/** "You don't have access to the model with the specified model ID." The credential may use others. */
const accessWords = boundedPattern(/\bmodel\b/i);
/** Of models that refuse even their own (langchain-ai/langchain-aws#401, zed-industries/zed#32341). */
const reasoningWords = boundedPattern(/^User messages cannot contain reasoning content/);
/** "Input is too long for requested model." has no numbers. */
const lengthWords = boundedPattern(/^(?:Input is too long|Too many input tokens|prompt is too long)/i);

function classify({ status, headers, error }: FailedAnswer): Failure {
  const failureClass = classOf(status, error);
  const retryable = failureClass === 'transient' || failureClass === 'rate-limit';
  const overflow = error && overflowIn(error);
  const failure: Failure = { class: failureClass, retryable, retryAfterMs: readRetryAfter(headers) };
  if (error && reasoningWords.test(error.message)) return { ...failure, refusesReasoning: true };
  if (error?.type === 'AccessDeniedException' && failureClass === 'model-unavailable')
    return { ...failure, isDenied: true };
  return overflow ? { ...failure, contextTokens: overflow.limit } : failure;
}

function classOf(status: number, error: UpstreamError | null): FailureClass {
  const { type = '', message = '' } = error ?? {};
  if (error && (overflowIn(error) || lengthWords.test(message))) return 'too-large';
  const meaning = entryOf(meanings, type)?.class;
  if (meaning === 'rejected' && modelWords.test(message)) return 'model-unavailable';
  if (type === 'AccessDeniedException' && accessWords.test(message)) return 'model-unavailable';
  return meaning ?? entryOf(classOfStatus, String(status)) ?? (status >= 500 ? 'transient' : 'rejected');
}

const shortText = boundedPattern(/^\s*:\s*"([^"\\]{1,100})"/);

/** An exception's name serves as its code. */
function codeIn(end: string): string | null {
  const from = end.lastIndexOf('"error":');
  return from === -1 ? null : (findMember(end, 'type', shortText, from)?.value ?? null);
}

export const bedrockErrors: ErrorFormat = {
  classify,
  statusOf: ({ type }) => entryOf(meanings, type)?.status ?? 502,
  isRequestError: (code) => code === 'ValidationException',
  codeIn,
};
