/** Errors of OpenAI's API, written and read. */
import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { ToldError } from '../../core/errors/verdict.ts';
import type { EventMeaning } from '../../core/stream-format.ts';
import { errorIn, type UpstreamError } from '../../core/upstream-error.ts';
import type { AnswerError } from '../../neutral/neutral-answer.ts';

/** An error as a response body. */
export function writeError(error: ErrorBody): string {
  return JSON.stringify({ error });
}

export function renderOpenaiError(error: ToldError): { status: number; body: string } {
  return { status: error.status, body: writeError(openaiErrorBody(error)) };
}

/** An error of another API. */
export function openaiErrorBody({ message, type, code }: AnswerError): ErrorBody {
  return { message, type, param: null, code };
}

/** The error in an event, or null. */
export function errorMeaningOf(value: Record<string, unknown>): EventMeaning | null {
  if (!value.error && value.type !== 'error' && value.type !== 'response.failed') return null;
  return { kind: 'error', error: errorIn(value) ?? unnamed };
}

/**
 * The error in a chat chunk, or null: that of the chunk, that of its choice (openrouter.ai/docs, "Errors"), or a flat one, as vLLM
 * sent up to 0.10.0.
 */
export function chatErrorIn(chunk: Record<string, unknown>): UpstreamError | null {
  if (chunk.error || chunk.object === 'error') return errorIn(chunk) ?? unnamed;
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  return isObject(choice) && choice.error ? (errorIn(choice) ?? unnamed) : null;
}

const unnamed: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };
