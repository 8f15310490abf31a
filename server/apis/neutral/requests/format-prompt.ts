/** Asks in words for an answer in a format, for models and APIs that cannot be told otherwise. */
import type { JsonSchema } from '../conversation.ts';
import { writeJson } from '../json-text.ts';

export function formatPrompt(schema: JsonSchema | undefined): string {
  if (schema === undefined)
    return 'Answer with one JSON object and nothing else: no text around it, and no code fence.';
  return `Answer with JSON of this schema and nothing else, without a code fence:\n${writeJson(schema)}`;
}
