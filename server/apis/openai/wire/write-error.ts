import type { ErrorBody } from '../../../contract/errors.ts';
import type { ToldError } from '../../core/errors/verdict.ts';
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
