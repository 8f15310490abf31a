import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNames } from '../../../../server/apis/json/json-names.ts';
import {
  fieldEdit,
  type JsonEdit,
  type JsonPeek,
  peekJson,
  piecesOf,
  usageEdits,
} from '../../../../server/apis/json/json-peek.ts';
import { tries } from '../../../support/sweep.ts';
import { jsonObjectText, wanted } from './json-documents.ts';

const names = new JsonNames(wanted);

function applied(body: Buffer, edits: readonly JsonEdit[]): string {
  return Buffer.concat(piecesOf(body, edits)).toString();
}

function peek(body: Buffer): Extract<JsonPeek, { ok: true }> {
  const found = peekJson(body, names);
  if (!found.ok) throw new Error(found.reason);
  return found;
}

function renamed(text: string, model: string): string {
  const body = Buffer.from(text);
  const field = peek(body).fields.get('model');
  return field ? applied(body, [fieldEdit(field, model)]) : text;
}

function withUsage(text: string): string | null {
  const body = Buffer.from(text);
  const edits = usageEdits(body, peek(body));
  return edits.length === 0 ? null : applied(body, edits);
}

describe('fieldEdit', () => {
  test('changes the value and no other byte', () => {
    const text = '\uFEFF{ "n": 1.0e+02, "model" :\t"gpt-x" , "ü":"\\u00e9\\/" }\n';
    expect(renamed(text, 'a/b "c" 漢')).toBe(text.replace('"gpt-x"', '"a/b \\"c\\" 漢"'));
  });

  test('leaves what JSON.parse reads as it was, but for the field', () => {
    fc.assert(
      fc.property(jsonObjectText, fc.string({ unit: 'grapheme' }), (text, model) => {
        const before = JSON.parse(text);
        const after = JSON.parse(renamed(text, model));
        if (Object.hasOwn(before, 'model')) before.model = model;
        if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error(renamed(text, model));
      }),
      { numRuns: tries(10_000) },
    );
  });
});

describe('usageEdits', () => {
  test.each([
    ['{"stream":true}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true }\n', '{"stream":true ,"stream_options":{"include_usage":true}}\n'],
    ['{}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options": null,"a":1}', '{"stream_options": {"include_usage":true},"a":1}'],
    ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":{ "x":1 }}', '{"stream_options":{ "x":1 ,"include_usage":true}}'],
    ['{"stream_options":{"include_usage":null}}', '{"stream_options":{"include_usage":true}}'],
    [
      '{"a":{"stream_options":{"include_usage":false}}}',
      '{"a":{"stream_options":{"include_usage":false}},"stream_options":{"include_usage":true}}',
    ],
  ])('turns %s into %s', (before, after) => {
    expect(withUsage(before)).toBe(after);
  });

  test.each([
    '{"stream_options":{"include_usage":true}}',
    '{"stream_options":{"include_usage":false}}',
    '{"stream_options":{"include_usage":"yes"}}',
    '{"stream_options":{"include_usage":null,"include_usage":false}}',
    '{"stream_options":"nonsense"}',
    '{"stream_options":[]}',
  ])('leaves %s unchanged', (text) => {
    expect(withUsage(text)).toBeNull();
  });

  test('leaves a body unchanged that is not JSON', () => {
    const body = Buffer.from('{"a"');
    expect(usageEdits(body, peekJson(body, names))).toEqual([]);
  });

  test('changes include_usage only if it was not set, and nothing else', () => {
    const options = fc.oneof(
      jsonObjectText,
      fc.constantFrom('null', '{}', '{"include_usage":null}', '{"include_usage":false}', '{"include_usage":true}'),
    );
    const document = fc.oneof(
      jsonObjectText,
      fc.tuple(jsonObjectText, options).map(([text, value]) => withMember(text, value)),
    );
    fc.assert(
      fc.property(document, (text) => {
        const expected = expectedUsage(JSON.parse(text));
        const actual = withUsage(text);
        const got = actual === null ? null : JSON.stringify(JSON.parse(actual));
        if (got !== expected) throw new Error(`${got} instead of ${expected}`);
      }),
      { numRuns: tries(10_000) },
    );
  });
});

test('edits of one peek can be applied together', () => {
  const body = Buffer.from('{"stream_options":null,"model":"a","stream":true}');
  const found = peek(body);
  const field = found.fields.get('model');
  const edits = [...(field ? [fieldEdit(field, 'b')] : []), ...usageEdits(body, found)];
  expect(applied(body, edits)).toBe('{"stream_options":{"include_usage":true},"model":"b","stream":true}');
});

/** The document with `stream_options` as its first member. */
function withMember(text: string, value: string): string {
  const inner = text.trim().slice(1);
  return `{"stream_options":${value}${inner.trim() === '}' ? '' : ','}${inner}`;
}

/** The rule applied to parsed values: the expected result, or null for "no change". */
function expectedUsage(document: Record<string, unknown>): string | null {
  const options = document.stream_options ?? {};
  if (typeof options !== 'object' || Array.isArray(options)) return null;
  const choice = Object.entries(options).find(([name]) => name === 'include_usage')?.[1] ?? null;
  if (choice !== null) return null;
  return JSON.stringify({ ...document, stream_options: { ...options, include_usage: true } });
}
