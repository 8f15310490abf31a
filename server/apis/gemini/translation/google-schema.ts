/**
 * Google's own schemas as JSON Schema: types in capitals, limits that are texts, and `nullable`. Source: Google, "Gemini API
 * reference", `Schema`; `types.ts` of its SDK, where `minItems` and its kin are strings.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../../neutral/conversation.ts';
import { mapSchemas, maxSchemaDepth } from '../../neutral/schemas/schema-walk.ts';
import { camel } from '../camel-case.ts';
import { numberIn } from './proto-fields.ts';

const limits = new Set('minItems maxItems minLength maxLength minProperties maxProperties minimum maximum'.split(' '));
/** Keywords that JSON Schema does not have, and that do not say which values are valid. */
const dropped = new Set(['nullable', 'propertyOrdering']);

export function fromGoogleSchema(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const known: JsonSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    const keyword = name.startsWith('$') ? name : camel(name);
    if (!dropped.has(keyword)) known[keyword] = limits.has(keyword) ? (numberIn(value) ?? value) : value;
  }
  const { type, example, ...others } = known;
  // Proto3 sends the default of an enumeration for a type that is not set.
  const isTyped = type !== undefined && String(type).toUpperCase() !== 'TYPE_UNSPECIFIED';
  const lowered: JsonSchema = {
    ...(isTyped && { type: inLowerCase(type) }),
    ...others,
    ...(example !== undefined && { examples: [example] }),
  };
  if (Array.isArray(lowered.enum) && lowered.enum.length === 0) delete lowered.enum;
  const mapped = mapSchemas(lowered, (inner) => fromGoogleSchema(inner, depth + 1));
  return schema.nullable === true ? orNull(mapped) : mapped;
}

function inLowerCase(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(inLowerCase);
  return typeof type === 'string' ? type.toLowerCase() : type;
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf, ...others } = schema;
  const isNullable = Array.isArray(type) ? type.includes('null') : type === 'null';
  return {
    ...(type !== undefined && { type: isNullable ? type : [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: hasNull(anyOf) ? anyOf : [...anyOf, { type: 'null' }] }),
    ...others,
  };
}

function hasNull(alternatives: readonly unknown[]): boolean {
  return alternatives.some((each) => isObject(each) && each.type === 'null');
}
