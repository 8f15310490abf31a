/** Fits the JSON Schema of a tool's input to a provider: the only place that knows what each of them refuses. */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import type { Losses } from '../losses.ts';
import { annotations, listOf, objectRoot, withoutReferences } from './object-root.ts';
import { mapSchemas, maxSchemaDepth, typesOf } from './schema-walk.ts';

/** What differs between providers. All want an object at the top, and lists and objects that say what they contain. */
export interface SchemaRules {
  /** Accepts only `type`, `properties` and `required` at the top, and so no definitions (Amazon Nova user guide, "Tool use"). */
  isPlainAtTop?: boolean;
  /**
   * Nothing may stand beside a `$ref`. Source: Google, "Gemini API reference", `GenerationConfig.responseJsonSchema`.
   */
  hasBareReferences?: boolean;
}

/** @param at the tool's path in the client's request, under which a change of meaning is reported */
export function fitSchema(
  schema: JsonSchema | undefined,
  rules: SchemaRules,
  { at, losses }: { at: string; losses: Losses },
): JsonSchema {
  if (schema === undefined) return { type: 'object', properties: {} };
  const report = () => losses.emulated(at, 'schema-keyword');
  const { $schema: _, ...current } = inCurrentDraft(schema, report);
  if (rules.isPlainAtTop !== true) {
    const fitted = complete(objectRoot(current, report));
    return rules.hasBareReferences === true ? withBareReferences(fitted) : fitted;
  }
  const whole = objectRoot(withoutReferences(current, report), report);
  const { type, properties, required, ...others } = complete(whole);
  if (Object.keys(others).some((keyword) => !annotations.has(keyword) && keyword !== 'additionalProperties')) report();
  return { type, properties, ...(required !== undefined && { required }) };
}

/** Whether a schema of answers is one of objects, as a tool's has to be. */
export function isOfObjects(schema: JsonSchema): boolean {
  return schema.type === undefined ? schema.enum === undefined : typesOf(schema).includes('object');
}

/**
 * Older notations in that of draft 2020-12, which Anthropic and OpenAI check: the items of tuples, limits that are
 * exclusive, and `required` of a single property.
 */
function inCurrentDraft(schema: JsonSchema, report: () => void, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => inCurrentDraft(inner, report, depth + 1));
  const changes: JsonSchema = {};
  const { items, additionalItems, prefixItems, required } = mapped;
  if (Array.isArray(items)) {
    Object.assign(changes, {
      prefixItems: prefixItems ?? items.filter((each) => isObject(each) || typeof each === 'boolean'),
      items: additionalItems ?? {},
      additionalItems: undefined,
    });
  }
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (mapped[exclusive] === true) Object.assign(changes, { [exclusive]: mapped[limit], [limit]: undefined });
    else if (mapped[exclusive] === false) changes[exclusive] = undefined;
  }
  if (required !== undefined && !Array.isArray(required)) {
    report();
    changes.required = undefined;
  }
  return Object.keys(changes).length === 0 ? mapped : withoutUndefined({ ...mapped, ...changes });
}

function withoutUndefined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/**
 * OpenAI refuses a whole request for "object schema missing properties" and "array schema missing items". Neither addition
 * changes what is valid.
 */
function complete(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => complete(inner, depth + 1));
  const types = typesOf(mapped);
  const additions = {
    ...(types.includes('object') && !isObject(mapped.properties) && { properties: {} }),
    ...(types.includes('array') && mapped.items === undefined && { items: {} }),
  };
  return Object.keys(additions).length === 0 ? mapped : { ...mapped, ...additions };
}

/** The other keywords go around the reference. */
function withBareReferences(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => withBareReferences(inner, depth + 1));
  const { $ref, ...others } = mapped;
  if ($ref === undefined || Object.keys(others).every((keyword) => keyword.startsWith('$'))) return mapped;
  if (others.anyOf === undefined) return { ...others, anyOf: [{ $ref }] };
  return { ...others, allOf: [...listOf(others.allOf), { $ref }] };
}
