/** Schemas of tools and answers: every provider gets one that it accepts, and nothing that was valid becomes invalid. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../../../server/contract/is-object.ts';
import { pick, randomNumbers } from '../../../support/random-numbers.ts';
import { checkToolSchema } from './strict-upstreams.ts';
import { type Json, lossesOf, sent, type Way } from './translating.ts';

/** A small validator of JSON Schema (draft 2020-12), and random schemas with values that they accept. */

type Random = () => number;

class Validator {
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
function randomToolSchema(random: Random): Json {
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
function randomAlternative(schema: Json, root: Json, random: Random): Json {
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
function randomValue(schema: unknown, root: Json, random: Random, depth = 0): unknown {
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

const from = 'anthropic-messages';
const upstreams = {
  OpenAI: [{ from, to: 'openai-chat', model: 'gpt-5.4' }, (body) => functionIn(body).parameters],
  'another chat service': [{ from, to: 'openai-chat', model: 'qwen3-32b' }, (body) => functionIn(body).parameters],
  Responses: [{ from, to: 'openai-responses', model: 'gpt-5.4' }, (body) => toolIn(body).parameters],
  Claude: [
    { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-6' },
    (body) => toolIn(body).input_schema,
  ],
  Gemini: [{ from, to: 'gemini-generate', model: 'gemini-3-pro' }, declared],
  Nova: [{ from, to: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' }, specified],
  Llama: [{ from, to: 'bedrock-converse', model: 'us.meta.llama4-scout-17b-instruct-v1:0' }, specified],
} satisfies Record<string, [Way, (body: Json) => unknown]>;
type Upstream = keyof typeof upstreams;
const all = Object.keys(upstreams) as Upstream[];

const toolIn = (body: Json) => (body.tools as Json[])[0] as Json;
const functionIn = (body: Json) => toolIn(body).function as Json;

function declared(body: Json): unknown {
  const [declaration] = toolIn(body).functionDeclarations as Json[];
  return declaration?.parametersJsonSchema ?? { type: 'object', properties: {} };
}

function specified(body: Json): unknown {
  const { toolSpec } = ((body.toolConfig as Json).tools as Json[])[0] as { toolSpec: { inputSchema: Json } };
  return toolSpec.inputSchema.json;
}

function withTool({ from: client }: Way, schema: Json): Json {
  const messages = [{ role: 'user', content: 'Hi' }];
  if (client === from) return { model: 'm', max_tokens: 9, messages, tools: [{ name: 'act', input_schema: schema }] };
  return { model: 'm', messages, tools: [{ type: 'function', function: { name: 'act', parameters: schema } }] };
}

function fitted(upstream: Upstream, schema: Json): Json {
  const [way, schemaIn] = upstreams[upstream];
  return schemaIn(sent(way, withTool(way, schema))) as Json;
}

function losses(upstream: Upstream, schema: Json): string[] {
  const [way] = upstreams[upstream];
  return lossesOf(way, withTool(way, schema));
}

function complaints(upstream: Upstream, schema: Json): string[] {
  const found: string[] = [];
  checkToolSchema(schema, upstream, (text) => found.push(text));
  return found;
}

describe.each(all)('random schemas for %s', (upstream) => {
  test('are valid there, and accept what they accepted', () => {
    const random = randomNumbers(35);
    let values = 0;
    for (let round = 0; round < 400; round++) {
      const schema = randomToolSchema(random);
      const after = fitted(upstream, schema);
      expect(complaints(upstream, after), JSON.stringify(schema)).toEqual([]);
      const [before, then] = [new Validator(schema), new Validator(after)];
      for (let times = 0; times < 8; times++) {
        const meant = { ...randomAlternative(schema, schema, random), $defs: schema.$defs };
        const value = randomValue(meant, schema, random);
        if (!isObject(value) || !before.accepts(value) || !new Validator(meant).accepts(value)) continue;
        values++;
        const told = JSON.stringify({ schema, after, value });
        expect(then.accepts(value), told).toBe(true);
      }
    }
    expect(values).toBeGreaterThan(500);
  });
});

describe.each(all)('a schema for %s', (upstream) => {
  test('of a tool without parameters says that it has none, and a list says what it contains', () => {
    expect(fitted(upstream, { type: 'object' })).toEqual({ type: 'object', properties: {} });
    const list = { type: 'object', properties: { tags: { type: 'array' }, more: { type: ['array', 'null'] } } };
    expect(fitted(upstream, list).properties).toEqual({
      tags: { type: 'array', items: {} },
      more: { type: ['array', 'null'], items: {} },
    });
    expect(losses(upstream, list).filter((line) => line.includes('schema'))).toEqual([]);
  });

  test('with a choice at its top keeps every constant of a property, and tells of the choice', () => {
    const variant = (action: string, name: string) => ({
      properties: { action: { type: 'string', const: action }, [name]: { type: 'string' } },
      required: ['action', name],
    });
    const choice = { type: 'object', oneOf: [variant('create', 'title'), variant('delete', 'id')] };
    expect(fitted(upstream, choice)).toEqual({
      type: 'object',
      properties: {
        action: { type: 'string', enum: ['create', 'delete'] },
        title: { type: 'string' },
        id: { type: 'string' },
      },
      required: ['action'],
    });
    expect(losses(upstream, choice)).toContain('emulated tools[0]: schema-keyword');
  });

  test('whose variants are references keeps what they refer to', () => {
    const $defs = {
      P: { type: 'object', properties: { kind: { const: 'p' }, size: { $ref: '#/$defs/Size' } }, required: ['kind'] },
      Q: { type: 'object', properties: { kind: { enum: ['q', 'r'] } }, required: ['kind'] },
      Size: { type: 'integer', minimum: 1 },
    };
    const { properties, required } = fitted(upstream, { anyOf: [{ $ref: '#/$defs/P' }, { $ref: '#/$defs/Q' }], $defs });
    const size = upstream === 'Nova' ? $defs.Size : { $ref: '#/$defs/Size' };
    expect({ properties, required }).toEqual({
      properties: { kind: { enum: ['p', 'q', 'r'] }, size },
      required: ['kind'],
    });
    const all = fitted(upstream, {
      type: 'object',
      allOf: [{ $ref: '#/$defs/P' }, { properties: { more: {} } }],
      $defs,
    });
    expect(Object.keys(all.properties as Json)).toEqual(['kind', 'size', 'more']);
  });

  test('with choices within choices, and one kind of choice beside another, keeps all properties', () => {
    const having = (name: string) => ({ properties: { [name]: { type: 'string' } }, required: [name] });
    const nested = { type: 'object', oneOf: [{ anyOf: [having('a'), having('b')] }, having('c')] };
    expect(Object.keys(fitted(upstream, nested).properties as Json)).toEqual(['a', 'b', 'c']);
    const beside = {
      type: 'object',
      anyOf: [having('a'), having('b')],
      allOf: [having('c'), { oneOf: [having('d')] }],
    };
    expect(Object.keys(fitted(upstream, beside).properties as Json).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(fitted(upstream, beside).required).toEqual(['c', 'd']);
  });

  test('leaves no reference without its target, whatever refers to itself', () => {
    const Tree = { type: 'object', properties: { left: { $ref: '#/$defs/Tree' }, right: { $ref: '#/$defs/Tree' } } };
    for (const schema of [
      { type: 'object', properties: { tree: { $ref: '#/$defs/Tree' } }, $defs: { Tree } },
      { $ref: '#/$defs/Tree', $defs: { Tree } },
      { $ref: '#/$defs/Nothing' },
      { oneOf: [{ properties: { a: { type: 'object' }, b: { $ref: '#/oneOf/0/properties/a' } } }, {}] },
    ]) {
      const after = fitted(upstream, schema);
      expect(complaints(upstream, after)).toEqual([]);
      const references = JSON.stringify(after).match(/"\$ref":"[^"]*"/g) ?? [];
      const validator = new Validator(after);
      for (const reference of references)
        expect(() => validator.accepts({}, JSON.parse(`{${reference}}`)), reference).not.toThrow();
    }
  });
});

test('definitions that refer to one another many times do not grow beyond bounds for Nova', () => {
  const $defs: Json = { D0: { type: 'string' } };
  for (let index = 1; index < 40; index++) {
    const $ref = `#/$defs/D${index - 1}`;
    $defs[`D${index}`] = { type: 'object', properties: { one: { $ref }, other: { $ref } } };
  }
  const schema = { type: 'object', properties: { all: { $ref: '#/$defs/D39' } }, $defs };
  expect(JSON.stringify(fitted('Nova', schema)).length).toBeLessThan(500_000);
  expect(losses('Nova', schema)).toContain('emulated tools[0]: schema-keyword');
});

describe('the format of an answer', () => {
  const ask = (format: Json, strict?: boolean) => ({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    model: 'm',
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: format, ...(strict && { strict }) },
  });
  const list = { type: 'array', items: { type: 'string' } };
  const chat = (model: string) => ({ from: 'gemini-generate', to: 'openai-chat', model }) as const;

  test('that is a list is asked for in words where the answer must be an object', () => {
    const { response_format: format, messages } = sent(chat('gpt-5.4'), ask(list));
    expect(format).toBeUndefined();
    expect(JSON.stringify(messages)).toContain('Answer with JSON of this schema');
    expect(lossesOf(chat('gpt-5.4'), ask(list))).toContain('emulated generationConfig.responseMimeType: in-prompt');
    const other = sent(chat('qwen3-32b'), ask(list)).response_format as Json;
    expect(other.json_schema).toMatchObject({ schema: list });
    const responses = { from: 'gemini-generate', to: 'openai-responses', model: 'gpt-5.4' } as const;
    expect(sent(responses, ask(list))).toMatchObject({ instructions: expect.stringContaining('Answer with JSON') });
  });

  test.each(['openai-chat', 'openai-responses'] as const)(
    'is strict at OpenAI only if all its properties are required: %s',
    (to) => {
      const way: Way = { from: 'anthropic-messages', to, model: 'gpt-5.4' };
      const properties = { a: { type: 'string' }, b: { type: 'string' } };
      const asked = (required: string[]) => ({
        ...{ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
        output_config: {
          format: {
            type: 'json_schema',
            schema: { type: 'object', properties, required, additionalProperties: false },
          },
        },
      });
      expect(JSON.stringify(sent(way, asked(['a', 'b'])))).toContain('"strict":true');
      expect(JSON.stringify(sent(way, asked(['a'])))).toContain('"strict":false');
      expect(lossesOf(way, asked(['a']))).toContain('emulated output_config.format: schema-keyword');
      expect(lossesOf(way, asked(['a', 'b'])).join()).not.toContain('schema-keyword');
    },
  );
});
