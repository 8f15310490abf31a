import type { ErrorBody } from '../../contract/errors.ts';

/** An error as the body of a response. */
export function writeError(error: ErrorBody): string {
  return JSON.stringify({ error });
}
