/**
 * A small instance of a JSON schema with placeholder values. It covers the subset that OpenAI's structured outputs
 * accept: objects, arrays, strings with formats, enums, numbers with limits, anyOf, and $ref (also recursive).
 * `pattern` is ignored.
 */
import { isObject } from '../contract/is-object.ts';
import type { JsonObject } from './parameters.ts';

/** Maximum depth of recursion. */
const MAX_DEPTH = 12;
/** A schema may ask for any number of items, or refer to itself many times. */
const MAX_VALUES = 1_000;
const MAX_LENGTH = 1_000;

export function sampleOfSchema(schema: unknown): unknown {
  return sample(schema, { root: schema, depth: 0, budget: { values: MAX_VALUES } });
}

interface SampleContext {
  root: unknown;
  depth: number;
  /** The number of values that may still be made; shared by the whole sample. */
  budget: { values: number };
}

function sample(schema: unknown, context: SampleContext): unknown {
  if (!isObject(schema) || context.depth > MAX_DEPTH || context.budget.values <= 0) return null;
  context.budget.values--;
  const nested = { ...context, depth: context.depth + 1 };
  if (typeof schema.$ref === 'string') return sample(resolve(schema.$ref, context.root), nested);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return sampleOfChoice(choices, nested);
  return sampleOfType(schema, nested);
}

function sampleOfType(schema: JsonObject, context: SampleContext): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return sampleOfObject(schema, context);
    case 'array':
      return sampleOfArray(schema, context);
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

/** The first choice. At greater depth, the first one without a reference, so that recursive schemas end. */
function sampleOfChoice(choices: readonly unknown[], context: SampleContext): unknown {
  const flat = context.depth > 2 ? choices.find((choice) => !JSON.stringify(choice).includes('"$ref"')) : undefined;
  return sample(flat ?? choices[0], context);
}

function sampleOfObject(schema: JsonObject, context: SampleContext): JsonObject {
  const required = new Set(requiredOf(schema));
  const filled: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (required.has(name) || context.depth < 3) filled[name] = sample(property, context);
  }
  return filled;
}

function sampleOfArray(schema: JsonObject, context: SampleContext): unknown[] {
  const minItems = limit(schema.minItems, 0);
  const maxItems = Math.min(limit(schema.maxItems, Infinity), context.budget.values);
  const length = Math.min(Math.max(minItems, context.depth < 6 ? 1 : 0), maxItems);
  return Array.from({ length }, () => sample(schema.items ?? { type: 'string' }, context));
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
  const text = (typeof schema.format === 'string' ? formats[schema.format] : undefined) ?? 'demo';
  return text.padEnd(Math.min(limit(schema.minLength, 0), MAX_LENGTH), '.').slice(0, limit(schema.maxLength, Infinity));
}

/** The multiple of the schema's step that is nearest to 1 within its limits. */
function sampleOfNumber(schema: JsonObject, isInteger: boolean): number {
  const low = limit(schema.minimum ?? schema.exclusiveMinimum, -Infinity);
  const high = limit(schema.maximum ?? schema.exclusiveMaximum, Infinity);
  const span = isInteger || !Number.isFinite(high - low) ? 1 : (high - low) / 2;
  const step = limit(schema.multipleOf, span);
  const lowest = schema.minimum === undefined ? Math.floor(low / step) + 1 : Math.ceil(low / step);
  const highest = schema.maximum === undefined ? Math.ceil(high / step) - 1 : Math.floor(high / step);
  return step * Math.min(Math.max(Math.ceil(1 / step), lowest), highest);
}

function limit(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

/** The value at a `#/…` reference. */
function resolve(reference: string, root: unknown): unknown {
  const segments = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return segments.reduce<unknown>((value, segment) => {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) ? value[key] : undefined;
  }, root);
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isObject(schema.properties) ? schema.properties : {};
}

function requiredOf(schema: JsonObject): unknown[] {
  return Array.isArray(schema.required) ? schema.required : [];
}
