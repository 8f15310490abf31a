/** A small validator of JSON Schema (draft 2020-12), and random schemas with values that they accept. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../../server/contract/is-object.ts';
import { pick } from '../../../support/random-numbers.ts';
import type { Json } from './translating.ts';

type Random = () => number;

export class Validator {
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  accepts(value: unknown, schema: unknown = this.#root): boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) throw new Error(`no schema: ${JSON.stringify(schema)}`);
    const each = (name: string) => (Array.isArray(schema[name]) ? (schema[name] as unknown[]) : []);
    const fits = (inner: unknown) => this.accepts(value, inner);
    if (typeof schema.$ref === 'string' && !fits(this.#at(schema.$ref))) return false;
    if (!each('allOf').every(fits)) return false;
    if (schema.anyOf !== undefined && !each('anyOf').some(fits)) return false;
    if (schema.oneOf !== undefined && each('oneOf').filter(fits).length !== 1) return false;
    if (schema.not !== undefined && fits(schema.not)) return false;
    if ('const' in schema && !isDeepStrictEqual(schema.const, value)) return false;
    if (schema.enum !== undefined && !each('enum').some((one) => isDeepStrictEqual(one, value))) return false;
    const types = schema.type === undefined ? [] : [schema.type].flat();
    if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false;
    if (typeof value === 'number') {
      if (typeof schema.minimum === 'number' && value < schema.minimum) return false;
      if (schema.exclusiveMinimum === true && value === schema.minimum) return false;
      return !(typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum);
    }
    if (Array.isArray(value)) return this.#acceptsList(value, schema);
    return !isObject(value) || this.#acceptsObject(value, schema);
  }

  #acceptsList(list: unknown[], schema: Json): boolean {
    const first = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
    const rest = Array.isArray(schema.items) ? true : (schema.items ?? true);
    if (typeof schema.minItems === 'number' && list.length < schema.minItems) return false;
    return list.every((item, index) => this.accepts(item, first[index] ?? rest));
  }

  #acceptsObject(value: Json, schema: Json): boolean {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (!required.every((name) => Object.hasOwn(value, name))) return false;
    return Object.entries(value).every(([name, member]) =>
      this.accepts(member, Object.hasOwn(properties, name) ? properties[name] : (schema.additionalProperties ?? true)),
    );
  }

  #at(reference: string): unknown {
    const found = reference
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], this.#root);
    if (found === undefined) throw new Error(`a reference to nothing: ${reference}`);
    return found;
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

const names = ['kind', 'path', 'size', 'tags'];
const definitions = ['Point', 'Choice', 'Tree'];

/** The schema of a tool, as tools of any kind write it. */
export function randomToolSchema(random: Random): Json {
  const $defs = {
    Point: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x'] },
    Choice: { anyOf: [randomObject(random, 0), randomObject(random, 0)] },
    Tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Tree' } } } },
  };
  const schema = random() < 0.15 ? { $ref: `#/$defs/${pick(definitions, random)}` } : randomObject(random, 3);
  return random() < 0.3
    ? { ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema', $defs }
    : { ...schema, $defs };
}

function randomObject(random: Random, depth: number): Json {
  const properties: Json = {};
  for (const name of names) if (random() < 0.5) properties[name] = randomSchema(random, depth - 1);
  const schema: Json = {
    ...(random() < 0.8 && { type: 'object' }),
    ...((random() < 0.8 || Object.keys(properties).length > 0) && { properties }),
    ...(random() < 0.5 && { required: Object.keys(properties).filter(() => random() < 0.5) }),
    ...(random() < 0.3 && { description: 'What it is.' }),
  };
  if (depth <= 0) return schema;
  for (const combinator of ['anyOf', 'oneOf', 'allOf']) {
    if (random() > 0.2) continue;
    schema[combinator] = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      random() < 0.3 ? { $ref: `#/$defs/${pick(definitions, random)}` } : randomObject(random, depth - 1),
    );
  }
  return schema;
}

function randomSchema(random: Random, depth: number): unknown {
  const kind = random();
  if (kind < 0.25) return { type: 'string', const: pick(['create', 'delete', 'move'], random) };
  if (kind < 0.35) return { enum: ['create', 'copy'] };
  if (kind < 0.5) return { type: 'string' };
  if (kind < 0.6) return { type: ['integer', 'null'], minimum: 2 };
  if (kind < 0.65) return { type: 'number', minimum: 1, exclusiveMinimum: true };
  if (kind < 0.7) return { type: 'array' };
  if (kind < 0.75) return { type: 'array', items: [{ type: 'number' }, { type: 'string' }] };
  if (kind < 0.8) return { type: 'object' };
  if (kind < 0.9) return { $ref: `#/$defs/${pick(definitions, random)}`, description: 'Elsewhere.' };
  if (depth <= 0) return {};
  return random() < 0.5 ? randomObject(random, depth) : { type: 'array', items: randomSchema(random, depth - 1) };
}

/** The schema with one alternative for each choice at its top, as somebody means it who sends such a value. */
export function randomAlternative(schema: Json, root: Json, random: Random): Json {
  const { $ref, ...others } = schema;
  const narrow = (inner: unknown) => randomAlternative(inner as Json, root, random);
  const chosen: Json = { ...others };
  const all = listIn(others.allOf).map(narrow);
  if (typeof $ref === 'string') all.push(narrow((root.$defs as Json)[$ref.split('/').at(-1) ?? '']));
  if (all.length > 0) chosen.allOf = all;
  for (const name of ['anyOf', 'oneOf'])
    if (Array.isArray(others[name])) chosen[name] = [narrow(pick(others[name], random))];
  return chosen;
}

/** A value such as `schema` describes it, of the properties that it mentions. It may still break another rule of the schema. */
export function randomValue(schema: unknown, root: Json, random: Random, depth = 0): unknown {
  if (!isObject(schema) || depth > 12) return 'text';
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return randomValue((root.$defs as Json)[name], root, random, depth + 1);
  }
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return pick(schema.enum, random);
  const type = Array.isArray(schema.type) ? pick(schema.type, random) : schema.type;
  if (type === 'string') return pick(['create', 'delete', 'copy', 'text'], random);
  if (type === 'null') return null;
  if (type === 'number' || type === 'integer') return 2 + Math.floor(random() * 3);
  if (type === 'array') return randomList(schema, root, random, depth);
  const value: Json = {};
  for (const part of [...['allOf'].flatMap((name) => listIn(schema[name])), ...chosen(schema, random)])
    Object.assign(value, asObject(randomValue(part, root, random, depth + 1)));
  const required = listIn(schema.required);
  for (const [name, inner] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    if (required.includes(name) || random() < 0.6) value[name] = randomValue(inner, root, random, depth + 1);
  return value;
}

function randomList({ items }: Json, root: Json, random: Random, depth: number): unknown[] {
  if (Array.isArray(items)) return items.map((each) => randomValue(each, root, random, depth + 1));
  return random() < 0.5 ? [] : [randomValue(items ?? {}, root, random, depth + 1)];
}

function chosen(schema: Json, random: Random): unknown[] {
  return ['anyOf', 'oneOf'].flatMap((name) => (Array.isArray(schema[name]) ? [pick(schema[name], random)] : []));
}

const asObject = (value: unknown): Json => (isObject(value) ? value : {});
const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
