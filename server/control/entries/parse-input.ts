import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { goneCall, withoutUnusedFields } from '../../contract/removed-features.ts';

/** Throws GatewayError `invalid_command` that names the field but does not quote its value, which may be a secret. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown, noun: string): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const again = schema.safeParse(withoutRemoved(input));
  if (again.success) return again.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? issue.path.join('.') : noun}: ${issue.message}`);
  const [first] = parsed.error.issues;
  throw new GatewayError('invalid_command', `The ${noun} is invalid: ${problems.join('; ')}.`, {
    param: first && first.path.length > 0 ? first.path.join('.') : null,
  });
}

/** Throws GatewayError `invalid_command` for what asks for a removed feature. */
function withoutRemoved(given: unknown): unknown {
  const { input, gone } = withoutUnusedFields(given);
  const answer = (isObject(given) ? goneCall(given.type) : null) ?? gone;
  if (answer !== null) throw new GatewayError('invalid_command', answer);
  return input;
}
