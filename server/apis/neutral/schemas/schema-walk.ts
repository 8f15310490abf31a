/** Where a JSON Schema contains others. Keywords are recognised by their position, because a property may be named `const`. */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';

/** Deeper nesting is not looked into; the services refuse it. */
export const maxSchemaDepth = 100;
/** Keywords whose value contains schemas by name. */
const byName = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
/** Keywords whose value is a schema, or a list of schemas. */
const direct = new Set(
  'items anyOf oneOf allOf additionalProperties not prefixItems if then else additionalItems contains propertyNames unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
);

/** The schema with each schema directly in it mapped; the same object if none has changed. */
export function mapSchemas(schema: JsonSchema, map: (inner: JsonSchema) => JsonSchema): JsonSchema {
  let changed: JsonSchema | null = null;
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapInside(keyword, value, map);
    if (mapped === value) continue;
    changed ??= { ...schema };
    changed[keyword] = mapped;
  }
  return changed ?? schema;
}

/** The value of a keyword, with each schema in it mapped; the same value if none has changed. */
export function mapInside(keyword: string, value: unknown, map: (schema: JsonSchema) => JsonSchema): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const mapEach = (each: unknown) => (isObject(each) ? map(each) : each);
  if (byName.has(keyword)) return isObject(value) ? mapMembers(value, mapEach) : value;
  if (!direct.has(keyword)) return value;
  if (!Array.isArray(value)) return mapEach(value);
  const mapped = value.map(mapEach);
  return mapped.some((each, index) => each !== value[index]) ? mapped : value;
}

function mapMembers(members: JsonSchema, mapEach: (value: unknown) => unknown): JsonSchema {
  const entries = Object.entries(members).map(([name, each]) => [name, mapEach(each)] as const);
  return entries.some(([name, each]) => each !== members[name]) ? Object.fromEntries(entries) : members;
}

/** The names in `type`, which is one of them or a list. */
export function typesOf({ type }: JsonSchema): readonly unknown[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}
