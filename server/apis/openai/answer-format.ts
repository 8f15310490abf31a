/** The format of an answer, as far as OpenAI's models accept its schema: the same in chat completions and responses. */
import { isObject } from '../../contract/is-object.ts';
import type { AnswerFormat, JsonSchema } from '../neutral/conversation.ts';
import { formatPrompt, type Rendering } from '../neutral/requests/rendering.ts';
import { fitSchema, isOfObjects } from '../neutral/schemas/fit-schema.ts';
import { mapSchemas, maxSchemaDepth, typesOf } from '../neutral/schemas/schema-walk.ts';

interface FittedFormat {
  format: AnswerFormat | undefined;
  /** Instructions that ask for the format instead. */
  prompts: string[];
}

/**
 * OpenAI, "Structured outputs": the answer is an object. Other services that speak its API also take lists (vLLM, "Structured
 * outputs"), and are sent the schema as it is.
 */
export function fitFormat(rendering: Rendering, isOpenai: boolean): FittedFormat {
  const { format } = rendering.conversation;
  if (format?.kind !== 'schema' || !isOpenai) return { format, prompts: [] };
  if (!isOfObjects(format.schema)) {
    rendering.emulate('format', 'in-prompt');
    return { format: undefined, prompts: [formatPrompt(format.schema)] };
  }
  const at = rendering.nameOf('format');
  const schema = fitSchema(format.schema, {}, { at, losses: rendering.losses });
  const isStrict = format.strict === true && mayBeStrict(rendering, schema);
  if (format.strict === true && !isStrict) rendering.emulate('format', 'schema-keyword');
  return { format: { ...format, schema, strict: format.strict && isStrict }, prompts: [] };
}

/**
 * Whether OpenAI's models can be asked to keep to the schema strictly. Anthropic's strict schemas may have optional
 * properties; OpenAI's own clients learn from its refusal what is wrong with theirs.
 */
export function mayBeStrict({ conversation }: Rendering, schema: JsonSchema): boolean {
  return conversation.client.wire.startsWith('openai-') || isStrictSchema(schema);
}

/** OpenAI, "Structured outputs": all objects are closed, and all their properties are required. */
function isStrictSchema(schema: JsonSchema, depth = 0): boolean {
  if (depth > maxSchemaDepth || schema.allOf !== undefined || schema.oneOf !== undefined) return false;
  if (isObject(schema.properties) || typesOf(schema).includes('object')) {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
    if (schema.additionalProperties !== false || !names.every((name) => required.has(name))) return false;
  }
  let isStrict = true;
  mapSchemas(schema, (inner) => {
    isStrict &&= isStrictSchema(inner, depth + 1);
    return inner;
  });
  return isStrict;
}
