/**
 * Where a JSON Schema contains others. Keywords are recognised by their position, because a property may be named
 * `const`.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import { writeJson } from '../json-text.ts';
import { invalid, type Losses } from '../losses.ts';

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
function mapInside(keyword: string, value: unknown, map: (schema: JsonSchema) => JsonSchema): unknown {
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

const strictKeywords = new Set(
  'type properties required items enum const anyOf allOf $ref $defs definitions default title description additionalProperties minItems format'.split(
    ' ',
  ),
);
const strictFormats = new Set('date-time date time duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/**
 * Anthropic, "Structured outputs": objects are closed and only a few keywords are supported; the others are moved into
 * the description, which the model reads. Source of the rules: `lib/transform-json-schema` of the TypeScript SDK.
 */
export function strictSchema(schema: JsonSchema, at: string, losses: Losses): JsonSchema {
  return strictly(schema, 0, () => losses.emulated(at, 'schema-keyword'));
}

function strictly(schema: JsonSchema, depth: number, report: () => void): JsonSchema {
  if (depth > maxSchemaDepth) invalid('schema', `it is nested more than ${maxSchemaDepth} levels deep`);
  const strict: JsonSchema = {};
  const moved: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const name = keyword === 'oneOf' ? 'anyOf' : keyword;
    if (keyword === '$schema') continue;
    if (isStrict(name, value)) strict[name] = mapInside(keyword, value, (each) => strictly(each, depth + 1, report));
    else moved.push(`${keyword}: ${writeJson(value)}`);
  }
  if (strict.type === 'object' || isObject(strict.properties)) strict.additionalProperties = false;
  if (moved.length === 0) return strict;
  report();
  const description = typeof strict.description === 'string' ? `${strict.description}\n\n` : '';
  return { ...strict, description: `${description}{${moved.join(', ')}}` };
}

function isStrict(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && strictFormats.has(value);
  if (keyword === 'minItems') return value === 0 || value === 1;
  return strictKeywords.has(keyword);
}
