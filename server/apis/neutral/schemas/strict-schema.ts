/** A JSON Schema that Anthropic's models keep to when they answer or call a tool. */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import { writeJson } from '../json-text.ts';
import { invalid, type Losses } from '../losses.ts';
import { mapInside, maxSchemaDepth } from './schema-walk.ts';

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
