/**
 * Adapts JSON Schemas to each provider. Keywords are recognised by their position, because a property may be named
 * `const`.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import { writeJson } from '../json-text.ts';
import { invalid, type Losses } from '../losses.ts';

/** Deeper nesting is refused, as it is by the services. */
const maxDepth = 100;
/** Keywords whose value contains schemas by name. */
const byName = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
/** Keywords whose value is a schema, or a list of schemas. */
const direct = ['items', 'anyOf', 'oneOf', 'allOf', 'additionalProperties', 'not', 'prefixItems', 'if', 'then', 'else'];

/** Anthropic requires an object at the top of a tool's schema, without a choice between schemas there. */
export function objectSchema(schema: JsonSchema | undefined): JsonSchema {
  if (schema === undefined) return { type: 'object', properties: {} };
  const choice = ['anyOf', 'oneOf', 'allOf'].find((keyword) => Array.isArray(schema[keyword]));
  if (choice !== undefined) return mergedChoice(schema, choice);
  return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

/**
 * Merges the alternatives into one object with the properties of all. Only properties that every alternative requires
 * are required.
 */
function mergedChoice(schema: JsonSchema, choice: string): JsonSchema {
  const { [choice]: alternatives, ...rest } = schema;
  const objects = (Array.isArray(alternatives) ? alternatives : []).filter(isObject);
  const properties: JsonSchema = {};
  for (const each of [...objects, schema]) Object.assign(properties, isObject(each.properties) ? each.properties : {});
  const required = objects.map((each) => (Array.isArray(each.required) ? each.required : []));
  const always = Array.isArray(schema.required) ? schema.required : [];
  const ofChoices = choice === 'allOf' ? required.flat() : inAll(required);
  return { ...rest, type: 'object', properties, required: [...new Set([...always, ...ofChoices])] };
}

/** Each name costs no more than the lists that contain it, because the search ends at the first that does not. */
function inAll(lists: readonly unknown[][]): unknown[] {
  const [first = new Set(), ...others] = lists.map((list) => new Set(list));
  return [...first].filter((name) => others.every((each) => each.has(name)));
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
  if (depth > maxDepth) invalid('schema', `it is nested more than ${maxDepth} levels deep`);
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

/** The value of a keyword, with each schema in it mapped. */
function mapInside(keyword: string, value: unknown, map: (schema: JsonSchema) => JsonSchema): unknown {
  if (byName.includes(keyword) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, isObject(each) ? map(each) : each]));
  }
  if (!direct.includes(keyword)) return value;
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? map(each) : each));
  return isObject(value) ? map(value) : value;
}
