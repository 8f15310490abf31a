import type { ErrorBody } from '../../../contract/errors.ts';

/** An error as a response body. */
export function writeError(error: ErrorBody): string {
  return JSON.stringify({ error });
}
