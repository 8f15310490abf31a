import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sampleOfSchema } from '../../../server/demo/schema-sample.ts';

const schemas: Record<string, Parameters<typeof z.fromJSONSchema>[0]> = {
  'an object': {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['name', 'age', 'tags'],
    additionalProperties: false,
  },
  'strings of bounded length': {
    type: 'object',
    properties: { long: { type: 'string', minLength: 9 }, short: { type: 'string', maxLength: 2 } },
    required: ['long', 'short'],
  },
  'strings of formats': {
    type: 'object',
    properties: Object.fromEntries(
      ['date-time', 'date', 'time', 'duration', 'email', 'ipv4', 'ipv6', 'uuid', 'uri'].map((format) => [
        format,
        { type: 'string', format },
      ]),
    ),
  },
  'numbers within limits': {
    type: 'object',
    properties: {
      low: { type: 'integer', minimum: 5 },
      high: { type: 'integer', maximum: -3 },
      between: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
      above: { type: 'integer', exclusiveMinimum: 7 },
      below: { type: 'number', exclusiveMaximum: 0 },
      tens: { type: 'integer', multipleOf: 10, minimum: 15 },
      negative: { type: 'number', minimum: -5, maximum: -2 },
    },
  },
  'enums and constants': {
    type: 'object',
    properties: { unit: { type: 'string', enum: ['c', 'f'] }, kind: { const: 'x' }, nothing: { type: 'null' } },
  },
  alternatives: {
    type: 'object',
    properties: {
      first: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      second: { type: ['string', 'null'] },
      third: {
        oneOf: [{ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }, { type: 'string' }],
      },
    },
  },
  references: {
    type: 'object',
    properties: { home: { $ref: '#/$defs/address' }, work: { $ref: '#/$defs/address' } },
    required: ['home', 'work'],
    $defs: { address: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] } },
  },
  'a list with at least three': { type: 'array', items: { type: 'integer' }, minItems: 3 },
  'a list with none': { type: 'array', items: { type: 'integer' }, maxItems: 0 },
  'a linked list': {
    type: 'object',
    properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
    required: ['value', 'next'],
    $defs: {
      node: {
        type: 'object',
        properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['value', 'next'],
      },
    },
  },
  'a tree': {
    $ref: '#/$defs/tree',
    $defs: {
      tree: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
        required: ['children'],
      },
    },
  },
};

describe('the sample of a schema', () => {
  it.each(Object.entries(schemas))('satisfies %s', (_, schema) => {
    const checked = z.fromJSONSchema(schema).safeParse(sampleOfSchema(schema));
    expect(checked.error?.issues).toBeUndefined();
  });

  it('fills in optional properties near the root', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(sampleOfSchema(schema)).toEqual({ a: 'demo' });
  });

  it('follows escaped references, and gives null for those that lead nowhere', () => {
    const schema = {
      properties: { x: { $ref: '#/$defs/a~1b' }, y: { $ref: '#/none' } },
      $defs: { 'a/b': { const: 7 } },
    };
    expect(sampleOfSchema(schema)).toEqual({ x: 7, y: null });
  });

  it('gives null for an enum without values', () => {
    expect(sampleOfSchema({ enum: [] })).toBeNull();
  });

  it('ends for a schema that never does', () => {
    const schema = { type: 'object', properties: { again: { $ref: '#' } }, required: ['again'] };
    expect(JSON.stringify(sampleOfSchema(schema)).length).toBeLessThan(1000);
  });

  it.each([[true], [undefined], [{}], ['text']])('is null for %j', (schema) => {
    expect(sampleOfSchema(schema)).toBeNull();
  });
});

describe('the sample of a schema that asks for too much is short', () => {
  const nested = (depth: number): object =>
    depth === 0 ? { type: 'string', minLength: 1e9 } : { type: 'array', minItems: 1e9, items: nested(depth - 1) };
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const recursive = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { $ref: '#' }])),
    required: names,
  };

  it.each([
    ['long lists of long lists', nested(3)],
    ['a long text', nested(0)],
    ['many references to itself', recursive],
    [
      'limits that are no numbers',
      { type: 'array', minItems: { toString: 1 }, items: { type: 'string', format: { toString: 1 } } },
    ],
  ])('%s', (_what, schema) => {
    expect(JSON.stringify(sampleOfSchema(schema)).length).toBeLessThan(2_000_000);
  });
});
