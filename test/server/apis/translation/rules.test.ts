/** Ids, names, signatures, schemas, efforts: the rules that renderers share. */
import { describe, expect, test } from 'vitest';
import type { JsonSchema, Seal } from '../../../../server/apis/neutral/conversation.ts';
import { parseLosslessJson, RawJson, writeJson } from '../../../../server/apis/neutral/json-text.ts';
import { Losses } from '../../../../server/apis/neutral/losses.ts';
import {
  isUsableBy,
  unwrapSeal,
  unwrapSeals,
  wrapSeal,
  wrapSeals,
} from '../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { budgetOf, effortOf, nearestEffort } from '../../../../server/apis/neutral/requests/reasoning-effort.ts';
import { CallIds, derivedCallId, ToolNames } from '../../../../server/apis/neutral/requests/rendering.ts';
import { fitSchema } from '../../../../server/apis/neutral/schemas/fit-schema.ts';
import { strictSchema } from '../../../../server/apis/neutral/schemas/schema-walk.ts';

describe('an id of a call', () => {
  test.each([
    ['anthropic', 'toolu_01-a', true],
    ['anthropic', 'a.b', false],
    ['openai', 'a.b:0', true],
    ['openai', 'x'.repeat(65), false],
    ['mistral', 'abcDEF123', true],
    ['mistral', 'call_1', false],
    ['any', 'é', true],
    ['any', '', false],
  ] as const)('of %s stays %j: %s', (rule, id, stays) => {
    const assigned = new CallIds(rule).assign(id);
    expect(assigned === id).toBe(stays);
    expect(assigned).toMatch(rule === 'mistral' ? /^[a-zA-Z0-9]{9}$/ : /^[^\n]{1,64}$/);
  });

  test('is never given twice, and the same for the same history', () => {
    const assign = () => {
      const ids = new CallIds('anthropic', ['b']);
      return ['a', 'a', 'b', 'a.b', 'a.b'].map((id) => ids.assign(id));
    };
    expect(new Set(assign()).size).toBe(5);
    expect(assign()).toEqual(assign());
    expect(assign()[2]).not.toBe('b');
  });

  test('that is derived for a call without one differs for every answer, call and function name', () => {
    expect(
      new Set([
        derivedCallId('1', 0, 'x'),
        derivedCallId('1', 1, 'x'),
        derivedCallId('2', 0, 'x'),
        derivedCallId('1', 0, 'y'),
      ]).size,
    ).toBe(4);
  });
});

describe('a name of a tool', () => {
  const rule = { maxLength: 64, others: '_-', beginsWithLetter: false };
  const tool = (name: string, namespace?: string) => ({ kind: 'function' as const, name, namespace, at: '' });

  test.each(['x'.repeat(65), 'a.b', 'é', '', 'a b'])('that is refused is replaced, and found again: %j', (name) => {
    const names = new ToolNames(rule, { tools: [tool(name), tool('a_b')] });
    expect(names.encode({ name })).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(names.decode(names.encode({ name })).name).toBe(name);
  });

  test('begins with a letter where that is the rule', () => {
    const names = new ToolNames(
      { ...rule, others: '_.:-', beginsWithLetter: true },
      { tools: [tool('1a'), tool('-b')] },
    );
    for (const name of ['1a', '-b']) expect(names.encode({ name })).toMatch(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/);
  });

  test('keeps its namespace', () => {
    const names = new ToolNames(rule, { tools: [tool('log', 'git')] });
    expect(names.decode('git__log')).toEqual({ name: 'log', namespace: 'git', kind: 'function' });
  });
});

describe('an envelope', () => {
  const origin = { provider: 'p', model: 'm', account: 'a' };
  const seal: Seal = { kind: 'encrypted', data: 'x\0y ü', itemId: 'rs_1', text: 'Hm.', origin };

  test('is base64, and gives back what is in it', () => {
    expect(wrapSeal(seal)).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(unwrapSeal(wrapSeal(seal), 'signature')).toEqual(seal);
    expect(unwrapSeals(wrapSeals([seal, { ...seal, kind: 'plain' }]), 'signature')).toEqual([
      seal,
      { ...seal, kind: 'plain' },
    ]);
  });

  test.each(['', 'gAAAA', 'EqQB', 'c2wxA', 'c2wxAHA=', 'c2xO', wrapSeal(seal).slice(0, 12)])(
    'is not seen in %j',
    (text) => {
      expect(unwrapSeal(text, 'signature').origin).toBeUndefined();
    },
  );

  test.each([
    [{}, true],
    [{ provider: 'q' }, false],
    [{ model: 'n' }, false],
    [{ account: 'b' }, false],
  ])('opens only for the account that sealed it: %j', (other, opens) =>
    expect(isUsableBy(seal, { ...origin, ...other })).toBe(opens),
  );

  test('that came bare opens for nobody', () =>
    expect(isUsableBy({ kind: 'signature', data: 'x' }, origin)).toBe(false));
});

describe('a schema', () => {
  test('of a tool is an object, without a choice at its top', () => {
    const choices = [
      { properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { properties: { b: { type: 'number' } }, required: ['b'] },
    ];
    const fitted = (schema: JsonSchema) => fitSchema(schema, {}, { at: 'tools[0]', losses: new Losses() });
    expect(fitted({ anyOf: choices })).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['b'],
    });
    expect(fitted({ allOf: choices }).required).toEqual(['a', 'b']);
    expect(fitted({})).toEqual({ type: 'object', properties: {} });
  });

  test('that is strict is closed, and tells in words what it cannot say', () => {
    const losses = new Losses();
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: {
        minimum: { type: 'number', minimum: 1, description: 'A number.' },
        when: {
          oneOf: [
            { type: 'string', format: 'date' },
            { type: 'string', format: 'x' },
          ],
        },
        list: { type: 'array', minItems: 1, items: { type: 'object', properties: {} } },
      },
    };
    expect(strictSchema(schema, 'format', losses)).toEqual({
      type: 'object',
      properties: {
        minimum: { type: 'number', description: 'A number.\n\n{minimum: 1}' },
        when: {
          anyOf: [
            { type: 'string', format: 'date' },
            { type: 'string', description: '{format: "x"}' },
          ],
        },
        list: { type: 'array', minItems: 1, items: { type: 'object', properties: {}, additionalProperties: false } },
      },
      additionalProperties: false,
    });
    expect(losses.list).toEqual([{ fate: 'emulated', field: 'format', code: 'schema-keyword' }]);
  });
});

describe('an effort', () => {
  test.each([
    ['none', ['low', 'high'], 'low'],
    ['minimal', ['none', 'low'], 'none'],
    ['xhigh', ['low', 'medium', 'high', 'max'], 'high'],
    ['max', ['low', 'medium', 'high', 'xhigh'], 'xhigh'],
    ['unheard-of', ['low', 'medium', 'high'], 'medium'],
    ['constructor', ['low', 'medium', 'high'], 'medium'],
    ['high', [], undefined],
  ])('%s of %j is %s', (effort, taken, expected) => expect(nearestEffort(effort, taken)).toBe(expected));

  test.each([
    [{ budgetTokens: 0 }, 'none'],
    [{ budgetTokens: 500 }, 'minimal'],
    [{ budgetTokens: 5000 }, 'medium'],
    [{ budgetTokens: 90_000 }, 'xhigh'],
    [{ budgetTokens: -1 }, undefined],
    [{ effort: 'max', budgetTokens: 1 }, 'max'],
    [{}, undefined],
  ])('of %j is %s', (reasoning, expected) => expect(effortOf(reasoning)).toBe(expected));

  test('has a budget', () => {
    expect(budgetOf({ effort: 'high' })).toBe(24_576);
    expect(budgetOf({ effort: 'constructor' })).toBeUndefined();
  });
});

describe('JSON', () => {
  test.each(['{"n":12345678901234567890}', '[0.1,1e5,-3]', '{"n":123456789012345678901234567890.5}', '"x"', 'null'])(
    'keeps its numbers: %s',
    (text) => expect(writeJson(parseLosslessJson(text))).toBe(text.replace('1e5', '100000')),
  );

  test('leaves out what is undefined, and writes what JSON.stringify writes', () => {
    const value = { a: undefined, b: [undefined, { c: null }], d: 'ü"\n', e: true, 'f g': 1.5 };
    expect(writeJson(value)).toBe(JSON.stringify(value));
  });

  test('is written unchanged where it is raw, wherever it stands', () => {
    const raw = new RawJson('{ "n": 1e400 }');
    expect(writeJson(raw)).toBe('{ "n": 1e400 }');
    expect(writeJson({ a: raw, b: ['x', raw, { c: new RawJson('[]') }], d: '","' })).toBe(
      '{"a":{ "n": 1e400 },"b":["x",{ "n": 1e400 },{"c":[]}],"d":"\\",\\""}',
    );
    expect(writeJson({ a: 1 })).toBe('{"a":1}');
  });

  test('is refused where it is nested without end', () => {
    expect(() => writeJson(parseLosslessJson('['.repeat(200_000) + ']'.repeat(200_000)))).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
  });
});
