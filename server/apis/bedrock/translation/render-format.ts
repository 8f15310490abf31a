/**
 * The format of an answer, for models that support schemas themselves. Source: Amazon Bedrock API reference,
 * `OutputFormat`.
 */
import { writeJson } from '../../neutral/json-text.ts';
import type { Rendering } from '../../neutral/requests/rendering.ts';
import { strictSchema } from '../../neutral/schemas/strict-schema.ts';
import type { ConverseFacts } from './model-facts.ts';

/** The value for `outputConfig`; undefined if the format is emulated, or if none is requested. */
export function renderFormat(rendering: Rendering, { structuredOutput }: ConverseFacts): object | undefined {
  const { format } = rendering.conversation;
  if (format?.kind !== 'schema' || !structuredOutput) return undefined;
  const { name, description } = format;
  const schema = strictSchema(format.schema, rendering.nameOf('format'), rendering.losses);
  // The schema is JSON within JSON.
  const jsonSchema = { schema: writeJson(schema), name, description };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
