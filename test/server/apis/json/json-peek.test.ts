import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNames } from '../../../../server/apis/json/json-names.ts';
import { fieldValue, type JsonPeek, peekJson, peekLongJson } from '../../../../server/apis/json/json-peek.ts';
import { type ByteRange, JsonScan } from '../../../../server/apis/json/json-scan.ts';
import { leastWorkOf } from '../../../support/cpu-work.ts';
import { tries } from '../../../support/sweep.ts';
import { jsonObjectText, wanted } from './json-documents.ts';

type Found = Extract<JsonPeek, { ok: true }>;

const names = new JsonNames(wanted);

function peek(text: string): Found {
  const found = peekJson(Buffer.from(text), names);
  if (!found.ok) throw new Error(`${found.reason} at ${found.offset}: ${text}`);
  return found;
}

function value(text: string, name: string): unknown {
  const field = peek(text).fields.get(name);
  return field && fieldValue(Buffer.from(text), field);
}

function membersOf(body: Buffer, sliceBytes: number) {
  const members: { key: ByteRange; value: ByteRange; items: number }[] = [];
  const scan = new JsonScan(body, { member: (key, value, items) => members.push({ key, value, items }) });
  while (!scan.advance(sliceBytes));
  return members;
}

/** Checks the whole grammar with opaque strings, because the upstream validates strings. */
function isObjectOutsideStrings(text: string): boolean {
  const bare = text.replace(/^\uFEFF/, '').replace(/"(?:[^"\\]|\\[\s\S])*"/g, '""');
  try {
    const parsed: unknown = JSON.parse(bare);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

describe('peekJson', () => {
  test('finds wanted top-level values with their ranges', () => {
    const text = '{"a":{"model":"inner"},"model" : "gpt-x","stream":true}';
    const { fields, end, empty } = peek(text);
    expect([...fields.keys()]).toEqual(['model', 'stream']);
    expect(fields.get('model')).toEqual({
      keyStart: text.indexOf('"model" '),
      start: text.indexOf('"gpt-x"'),
      end: text.indexOf(',"stream"'),
      items: 0,
    });
    expect(end).toBe(text.length - 1);
    expect(empty).toBe(false);
  });

  test('takes the last of repeated keys, as JSON.parse does', () => {
    expect(value('{"model":"a","model":{"b":1},"model":"c"}', 'model')).toBe('c');
  });

  test.each([
    ['{"model":"a"}', []],
    ['{"model":"a","model":"b"}', ['model']],
    ['{"model":"a","MODEL":"b"}', ['model']],
    ['{"Model":"b"}', ['model']],
    ['{"mod\\u0065l":"b"}', ['model']],
    ['{"mode\\l":"b"}', ['model']],
    ['{"\\u004d\\u004f\\u0044\\u0045\\u004c":"b"}', ['model']],
    ['{"\u017ftream":true}', ['stream']],
    ['{"\\u017fTREAM":true}', ['stream']],
    ['{"models":1,"models":2,"mode":3,"mode":4,"stream-options":5}', []],
    ['{"a":{"model":"a","model":"b"}}', []],
    ['{"stream":1,"model":2,"stream":3,"model":4}', ['stream', 'model']],
  ])('tells which names %s spells in more than one way, or in another than its letters', (text, ambiguous) => {
    expect([...peek(text).ambiguous].sort()).toEqual([...ambiguous].sort());
  });

  test('takes a Kelvin sign for a k, as Go does', () => {
    const found = peekJson(Buffer.from('{"max_to\u212aens":1}'), new JsonNames(['max_tokens']));
    expect(found.ok && [...found.ambiguous]).toEqual(['max_tokens']);
  });

  test('counts what a list holds, and all values', () => {
    const found = peek('{"model":[1,[2,3],{"a":[4,5]}],"stream":[ ],"x":{"stream":[1,2]}}');
    expect(found.fields.get('model')?.items).toBe(3);
    expect(found.fields.get('stream')?.items).toBe(0);
    expect(found.values).toBe(14);
  });

  test('recognises a key written with escapes', () => {
    expect(value('{"mod\\u0065l":"gpt-x"}', 'model')).toBe('gpt-x');
    expect(value('{"\\u006d\\u006f\\u0064\\u0065\\u006c":1,"mode\\l":2}', 'model')).toBe(1);
  });

  test('takes no look-alike inside a string for a field', () => {
    expect(value('{"content":"\\",\\"model\\":\\"x\\"","other":"\\\\","model":"y"}', 'model')).toBe('y');
  });

  test('follows escapes across the border between the byte probe and the native search', () => {
    for (let filler = 20; filler < 80; filler++) {
      for (let slashes = 0; slashes < 6; slashes++) {
        const content = `${'x'.repeat(filler)}${'\\'.repeat(slashes)}"${'y'.repeat(filler)}"`;
        expect(value(JSON.stringify({ content, model: 'gpt-x' }), 'model')).toBe('gpt-x');
      }
    }
  });

  test('follows escapes where a string that has quotes is searched again', () => {
    for (let filler = 30; filler < 60; filler++) {
      for (let slashes = 0; slashes < 4; slashes++) {
        const quoted = `${'x'.repeat(filler)}${'\\'.repeat(slashes)}"`;
        const content = `${'x'.repeat(60)}"${quoted}${quoted}{"model":"inner"}`;
        expect(value(JSON.stringify({ content, model: 'gpt-x' }), 'model')).toBe('gpt-x');
      }
    }
  });

  test('says when the object is empty and where it ends', () => {
    expect(peek(' { } ')).toEqual({
      ok: true,
      fields: new Map(),
      members: [],
      watched: 0,
      namesObjects: false,
      ambiguous: new Set(),
      end: 3,
      empty: true,
      values: 0,
      marked: [],
    });
  });

  test('tolerates a byte order mark', () => {
    expect(value('\uFEFF{"model":"x"}', 'model')).toBe('x');
  });

  test.each([
    ['', 0, 'expected an object'],
    ['[1]', 0, 'expected an object'],
    ['"x"', 0, 'expected an object'],
    ['{"a":1', 6, 'expected a comma or a closing brace'],
    ['{"a":', 5, 'ended too early'],
    ['{"a" 1}', 5, 'expected a colon'],
    ['{"a":1,}', 7, 'expected a string'],
    ['{a:1}', 1, 'expected a string'],
    ['{"a":01}', 6, 'expected a comma or a closing brace'],
    ['{"a":-}', 6, 'expected a digit'],
    ['{"a":1.}', 7, 'expected a digit'],
    ['{"a":1e+}', 8, 'expected a digit'],
    ['{"a":nul}', 5, 'expected a value'],
    ['{"a":nu', 5, 'expected a value'],
    ['{"a":[1,]}', 8, 'expected a value'],
    ['{"a":[1}}', 7, 'expected a comma or a closing bracket'],
    ['{"a":{"b":1,}}', 12, 'expected a string'],
    ['{"a":"x}', 5, 'a string that never ends'],
    ['{"a":"x\\', 5, 'a string that never ends'],
    ['{"a":1} x', 8, 'expected nothing after the closing brace'],
    ['{"a":1}{"a":1}', 7, 'expected nothing after the closing brace'],
    ['{"a":1\u00a0}', 6, 'expected a comma or a closing brace'],
  ])('refuses %j at byte %i: %s', (text, offset, reason) => {
    expect(peekJson(Buffer.from(text), names)).toEqual({ ok: false, offset, reason });
  });

  test('bounds the depth without using the stack', () => {
    const nested = (depth: number) => Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(peekJson(nested(10_000), names).ok).toBe(true);
    expect(peekJson(nested(10_001), names)).toEqual({ ok: false, offset: 10_005, reason: 'nested deeper than 10000' });
    expect(peekJson(nested(1_000_000), names).ok).toBe(false);
  });

  test('needs linear time for runs of backslashes and of quotes', async () => {
    for (const run of ['\\\\'.repeat(1_000_000), '\\"'.repeat(1_000_000), `${'x'.repeat(40)}\\\\\\"`.repeat(50_000)]) {
      const text = `{"content":"${run}","model":"x"}`;
      expect(await leastWorkOf(() => expect(value(text, 'model')).toBe('x'), 100)).toBeLessThan(100);
    }
  });

  test('comes to the same in slices of any length', () => {
    fc.assert(
      fc.property(jsonObjectText, fc.integer({ min: 1, max: 40 }), (text, sliceBytes) => {
        const members = (bytes: number) => membersOf(Buffer.from(text), bytes);
        expect(members(sliceBytes)).toEqual(members(Number.POSITIVE_INFINITY));
      }),
      { numRuns: tries(5_000) },
    );
    const runs = [`"${'\\\\'.repeat(100_000)}\\""`, `"${'x'.repeat(200_000)}${'\\'.repeat(200_001)}"x"`];
    for (const run of runs) {
      const body = Buffer.from(`{"a":${run},"b":[${'{"c":1},'.repeat(1_000)}2]}`);
      expect(membersOf(body, 100)).toEqual(membersOf(body, Number.POSITIVE_INFINITY));
      expect(membersOf(body, 100)).toHaveLength(2);
    }
  });

  test('lets other work run in the middle of a long body', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    const found = await peekLongJson(Buffer.from(`{"model":"x","a":[${'{},'.repeat(2_000_000)}1]}`), names);
    clearImmediate(next);
    expect(found.ok && found.values).toBe(2_000_003);
    expect(turns).toBeGreaterThan(40);
  });

  test('agrees with JSON.parse on every object', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        const body = Buffer.from(text);
        const parsed = new Map(Object.entries(JSON.parse(text)));
        const found = peek(text);
        const foundNames = [...found.fields.keys()].sort().join();
        if (
          foundNames !==
          wanted
            .filter((name) => parsed.has(name))
            .sort()
            .join()
        )
          throw new Error(`found ${foundNames}`);
        for (const [name, field] of found.fields) {
          const actual = JSON.stringify(fieldValue(body, field));
          if (actual !== JSON.stringify(parsed.get(name))) throw new Error(`${name} is ${actual}`);
        }
        if (body[found.end] !== 0x7d || body.toString('utf8', found.end + 1).trim() !== '')
          throw new Error('wrong end');
        if (found.empty !== (parsed.size === 0)) throw new Error('wrong empty');
      }),
      { numRuns: tries(40_000) },
    );
  });

  test('judges damaged documents like JSON.parse, except for faults inside strings', () => {
    const damage = fc.record({
      text: jsonObjectText,
      at: fc.nat(),
      removed: fc.constantFrom(0, 0, 1, 1, 2, 5),
      added: fc.constantFrom('', '', ...'{}[],:"\\0-+.eE1tfn \n\u0000é', '\uFEFF', '""', 'null', '//', '1.5'),
    });
    let refused = 0;
    fc.assert(
      fc.property(damage, ({ text, at, removed, added }) => {
        const bytes = Buffer.from(text);
        const from = at % (bytes.length + 1);
        const body = Buffer.concat([bytes.subarray(0, from), Buffer.from(added), bytes.subarray(from + removed)]);
        const { ok } = peekJson(body, names);
        if (!ok) refused++;
        if (ok !== isObjectOutsideStrings(body.toString())) throw new Error(`ok: ${ok}`);
      }),
      { numRuns: tries(40_000) },
    );
    expect(refused).toBeGreaterThan(tries(5_000));
  });
});
