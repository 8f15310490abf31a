import type { ErrorBody } from '../../contract/errors.ts';

/** Writes an error in this wire's format. No client reads it: it is translated for each. */
export function writeBedrockError({ message, type }: Pick<ErrorBody, 'message' | 'type'>): string {
  return JSON.stringify({ error: { type, message } });
}
