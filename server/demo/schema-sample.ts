/**
 * A small instance of a JSON schema: what a real model would be made to produce, with placeholder values. It covers the
 * schemas that OpenAI's structured outputs allow (objects, arrays, strings with formats, enums, numbers with limits, anyOf,
 * $ref also to itself), and reads `oneOf`, `allOf` and `const` besides. It does not try to satisfy `pattern` or `not`.
 */
import { isObject } from '../contract/is-object.ts';
import type { JsonObject } from './parameters.ts';

/** Below this depth only what is required is filled in, and choices take the branch that ends; recursion stops there. */
const MAX_DEPTH = 12;

export function sampleOfSchema(schema: unknown): unknown {
  return sample(schema, { root: schema, depth: 0 });
}

interface Place {
  root: unknown;
  depth: number;
}

function sample(schema: unknown, place: Place): unknown {
  if (!isObject(schema) || place.depth > MAX_DEPTH) return null;
  const below = { root: place.root, depth: place.depth + 1 };
  if (typeof schema.$ref === 'string') return sample(resolve(schema.$ref, place.root), below);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return sampleOfChoice(choices, below);
  if (Array.isArray(schema.allOf)) return sample(mergeAll(schema, place.root), below);
  return sampleOfType(schema, below);
}

function sampleOfType(schema: JsonObject, place: Place): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return sampleOfObject(schema, place);
    case 'array':
      return sampleOfArray(schema, place);
    case 'string':
      return sampleOfString(schema);
    case 'integer':
      return sampleOfNumber(schema, true);
    case 'number':
      return sampleOfNumber(schema, false);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function typeOf(schema: JsonObject): unknown {
  if (Array.isArray(schema.type)) return schema.type[0];
  if (schema.type !== undefined) return schema.type;
  if (schema.properties) return 'object';
  return schema.items ? 'array' : undefined;
}

/** The first choice, except that a choice which refers back is left to the others: a list ends with its `null`. */
function sampleOfChoice(choices: readonly unknown[], place: Place): unknown {
  const ending = place.depth > 2 ? choices.find((choice) => !isObject(choice) || !refersOn(choice)) : undefined;
  return sample(ending ?? choices[0], place);
}

function refersOn(schema: JsonObject): boolean {
  return JSON.stringify(schema).includes('"$ref"');
}

function sampleOfObject(schema: JsonObject, place: Place): JsonObject {
  const required = new Set(requiredOf(schema));
  const filled: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (required.has(name) || place.depth < 3) filled[name] = sample(property, place);
  }
  return filled;
}

function sampleOfArray(schema: JsonObject, place: Place): unknown[] {
  const least = Number(schema.minItems ?? 0);
  const most = Number(schema.maxItems ?? Number.POSITIVE_INFINITY);
  const wanted = Math.min(Math.max(least, place.depth < 6 ? 1 : 0), most);
  return Array.from({ length: wanted }, () => sample(schema.items ?? { type: 'string' }, place));
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'PT1M',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  uri: 'https://example.com/demo',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function sampleOfString(schema: JsonObject): string {
  const text = formats[String(schema.format)] ?? 'demo';
  return text.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? Number.POSITIVE_INFINITY));
}

/** The first of a few likely numbers that the limits allow. */
function sampleOfNumber(schema: JsonObject, isInteger: boolean): number {
  const low = Math.max(limit(schema.minimum, -Infinity), limit(schema.exclusiveMinimum, -Infinity));
  const high = Math.min(limit(schema.maximum, Infinity), limit(schema.exclusiveMaximum, Infinity));
  const grid = limit(schema.multipleOf, isInteger ? 1 : (high - low) / 2);
  const step = Number.isFinite(grid) ? grid : 1;
  const lowest = Math.ceil(low / step) * step;
  const highest = Math.floor(high / step) * step;
  const candidates = [1, 0, step, lowest, lowest + step, highest, highest - step];
  const isAllowed = (candidate: number) =>
    Number.isFinite(candidate) &&
    candidate >= low &&
    candidate <= high &&
    candidate !== schema.exclusiveMinimum &&
    candidate !== schema.exclusiveMaximum &&
    (schema.multipleOf === undefined || candidate % step === 0) &&
    (!isInteger || Number.isInteger(candidate));
  return candidates.find(isAllowed) ?? 1;
}

function limit(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** What a `#/…` reference points to; nothing else is fetched. */
function resolve(reference: string, root: unknown): unknown {
  const segments = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return segments.reduce<unknown>((value, segment) => {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) ? value[key] : undefined;
  }, root);
}

/** One schema with the properties and requirements of all. */
function mergeAll(schema: JsonObject, root: unknown): JsonObject {
  const { allOf, ...own } = schema;
  const parts = (Array.isArray(allOf) ? allOf : []).map((part: unknown) =>
    isObject(part) && typeof part.$ref === 'string' ? resolve(part.$ref, root) : part,
  );
  const schemas = [own, ...parts].filter(isObject);
  return {
    ...Object.assign({}, ...schemas),
    properties: Object.assign({}, ...schemas.map(propertiesOf)),
    required: schemas.flatMap(requiredOf),
  };
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isObject(schema.properties) ? schema.properties : {};
}

function requiredOf(schema: JsonObject): unknown[] {
  return Array.isArray(schema.required) ? schema.required : [];
}
