import type { ErrorBody } from '../../contract/errors.ts';

/** An error as this wire's events and bodies have it. No client reads it: it is translated for each. */
export function writeBedrockError({ message, type }: Pick<ErrorBody, 'message' | 'type'>): string {
  return JSON.stringify({ error: { type, message } });
}
