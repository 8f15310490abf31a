/** What the services refuse in the schema of a tool's input, in their own words where they are known. */
import { isObject } from '../../../../server/contract/is-object.ts';
import type { Json } from './translating.ts';

/** @param upstream `Claude`, `Gemini` and `Nova` have rules of their own */
export function checkToolSchema(schema: unknown, upstream: string, complain: (text: string) => void): void {
  if (!isObject(schema)) return;
  if (schema.type !== 'object') complain(`schema must be of type "object", got ${JSON.stringify(schema.type)}`);
  if (upstream !== 'Claude' && !isObject(schema.properties)) complain('object schema missing properties');
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$ref'])
    if (schema[keyword] !== undefined) complain(`schema must not have ${keyword} at the top level`);
  const isPlain = Object.keys(schema).every((name) => ['type', 'properties', 'required'].includes(name));
  if (upstream === 'Nova' && !isPlain) complain('only type, properties and required are supported at the top level');
  checkInside(schema, upstream, complain);
}

function checkInside(value: unknown, upstream: string, complain: (text: string) => void): void {
  if (Array.isArray(value)) for (const each of value) checkInside(each, upstream, complain);
  if (!isObject(value)) return;
  const { type, items, exclusiveMinimum, exclusiveMaximum, $ref } = value as Json;
  if (upstream !== 'Claude' && type === 'array' && !isObject(items)) complain('array schema missing items');
  const limits = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'];
  if (limits.some((name) => typeof value[name] === 'string')) complain('a limit is not of type "number"');
  if ([exclusiveMinimum, exclusiveMaximum].some((limit) => typeof limit === 'boolean')) complain('a limit of draft 4');
  const isBare = Object.keys(value).every((name) => name.startsWith('$'));
  if (upstream === 'Gemini' && typeof $ref === 'string' && !isBare) complain('$ref beside other keywords');
  for (const each of Object.values(value)) checkInside(each, upstream, complain);
}
