import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonSyntaxError, parseConfigJson } from '../../../server/config/check-config.ts';

test.each([
  ['', 'its end: it stops too early'],
  ['{', 'its end: it stops too early'],
  ['{"a": "b', 'its end: it stops too early'],
  ['{"a": [1, 2', 'its end: it stops too early'],
  ['{"a": tru', 'its end: it stops too early'],
  ['{"a": trux}', 'line 1, column 10'],
  ['{"a": 1,}', 'line 1, column 9'],
  ["{'a': 1}", 'line 1, column 2'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
  ['{"a": "line\nbreak"}', 'line 1, column 12'],
  ['{"a": "\\x"}', 'line 1, column 9'],
  ['{"a": 1} x', 'line 1, column 10'],
  ['// comment\n{}', 'line 1, column 1'],
  ['{"a": 01}', 'line 1, column 8'],
])('the fault of %j is at %s', (text, place) => {
  expect(() => parseConfigJson(text)).toThrow(new JsonSyntaxError(`not valid JSON at ${place}`));
});

test('what JSON.parse reads is read the same', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseConfigJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('any other text is refused without being quoted', () => {
  fc.assert(
    fc.property(fc.json(), fc.string({ minLength: 1 }), fc.nat(), (json, inserted, at) => {
      const offset = at % (json.length + 1);
      const text = `${json.slice(0, offset)}${inserted}${json.slice(offset)}`;
      try {
        parseConfigJson(text);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonSyntaxError);
        expect(String(error)).toMatch(/not valid JSON at (line \d+, column \d+|its end: it stops too early)$/);
      }
    }),
  );
});
