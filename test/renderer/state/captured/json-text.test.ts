import { describe, expect, it } from 'vitest';
import { formatJson } from '../../../../renderer/state/captured/format-json.ts';
import { parseTruncatedJson } from '../../../../server/contract/conversation/parse-truncated-json.ts';

const whole = { longestString: Number.POSITIVE_INFINITY, describeRest: () => '' };

describe('the formatting of JSON', () => {
  it('lays a body out as JSON.stringify does', () => {
    const value = { a: [1, { b: 'x"y\\' }, [], {}], 'c:,{': null, d: [true, -1.5e3], e: { f: 'ü\n' } };
    expect(formatJson(JSON.stringify(value), whole).text).toBe(JSON.stringify(value, null, 2));
    expect(formatJson(JSON.stringify(value, null, 7), whole).text).toBe(JSON.stringify(value, null, 2));
  });

  it('keeps numbers, escapes and duplicate members that parsing would change', () => {
    const json = '{"n":12345678901234567890,"x":1.0,"x":"\\u00e9\\/"}';
    expect(formatJson(json, whole).text.replaceAll(/\s/g, '')).toBe(json);
  });

  it('lays out what came of a body that was cut', () => {
    expect(formatJson('{"a":[1,{"b":"hal', whole).text).toBe('{\n  "a": [\n    1,\n    {\n      "b": "hal');
  });

  it('shows the beginning of a long string, and says how much is left out', () => {
    const json = JSON.stringify({ data: 'A'.repeat(5_000), short: 'B' });
    const { text, cutStrings } = formatJson(json, { longestString: 1_000, describeRest: (units) => `[${units} more]` });
    expect(text).toBe(`{\n  "data": "${'A'.repeat(99)}… [4901 more]",\n  "short": "B"\n}`);
    expect(cutStrings).toBe(1);
  });

  it('does not grow with the square of a body of brackets', () => {
    expect(formatJson('['.repeat(10_000), whole).text.length).toBeLessThan(1_000_000);
  });
});

describe('the parsing of JSON that was cut', () => {
  it('does not touch what is whole', () => {
    expect(parseTruncatedJson(' [1, {"a": "b"}] ')).toEqual({ value: [1, { a: 'b' }], isCut: false });
  });

  it.each([
    ['{"a":"hal', { a: 'hal' }],
    ['{"a":"hal\\', { a: 'hal' }],
    ['{"a":"x\\u00e', { a: 'x' }],
    ['{"a":"x\\\\', { a: 'x\\' }],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":1,"b":', { a: 1 }],
    ['{"a":1,"b":tru', { a: 1 }],
    ['[{"a":[1,2],"b":{}', [{ a: [1, 2], b: {} }]],
    ['{"a":[{"c":"}]"},{"d', { a: [{ c: '}]' }, {}] }],
  ])('closes what is open in %s', (text, value) => {
    expect(parseTruncatedJson(text)).toEqual({ value, isCut: true });
  });

  it('gives every beginning of a body back as a beginning of it', () => {
    const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a "b" \\ ü' }], n: [1.5, null] });
    for (let end = 1; end < text.length; end++)
      expect(parseTruncatedJson(text.slice(0, end)), text.slice(0, end)).not.toBe(null);
  });

  it.each(['', 'Hello', '<html>', '{a:1}', '}'])('finds none in %j', (text) => {
    expect(parseTruncatedJson(text)).toBe(null);
  });
});
