/** The patterns of `cassette.json`: the matches are those of JavaScript, and no text takes long. */
import { expect, test } from 'vitest';
import { LinearPattern } from '../../../server/cassettes/linear-pattern.ts';
import { settingsSchema } from '../../../server/cassettes/settings.ts';
import { cpuMsOf } from '../../support/cpu-work.ts';
import { randomNumbers } from '../../support/random-numbers.ts';

const found = (source: string, text: string) => new LinearPattern(source).findAll(text);
const byJavaScript = (source: string, text: string) =>
  [...text.matchAll(new RegExp(source, 'gu'))]
    .filter(([match]) => match !== '')
    .map(({ 0: match, index }) => ({ start: index, end: index + match.length }));

test.each([
  ['/tmp/[a-z0-9]+', 'in /tmp/a1 and /tmp/b2/c, not /tmp/'],
  ['Chunk ID: \\w+', 'Chunk ID: 1f\nChunk ID: 2e'],
  ['Wall time: [\\d.]+ seconds', 'Wall time: 1.25 seconds'],
  ['a|ab', 'ab aab'],
  ['(?:a|ab)(?:c|bcd)?', 'abcd ac'],
  ['a+?b', 'aab ab'],
  ['a{2,3}', 'a aa aaaaa'],
  ['a{2,}?', 'aaaaa'],
  ['^x|x$', 'x x x'],
  ['\\bcat\\b', 'cat concat cat'],
  ['\\Bat\\B', 'at cats'],
  ['(?<year>\\d{4})-\\d\\d', 'in 2026-11'],
  ['[^\\]a]+', 'b]c'],
  ['\\u{1F600}+|\\x41\\u0042', '😀😀 AB'],
  ['\\p{Lu}\\P{Lu}+', 'Ärger Über'],
  ['.', '😀\n'],
  ['[\\s\\S]', 'a\n'],
  ['\\/\\.\\*', '/.*'],
  ['', 'abc'],
])('%s finds the same as in JavaScript', (source, text) => {
  expect(found(source, text)).toEqual(byJavaScript(source, text));
});

test('patterns of any build find the same as in JavaScript', () => {
  const next = randomNumbers(7);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] ?? (items[0] as Item);
  const atoms = ['a', 'b', 'é', '.', '[ab]', '[^a]', '\\w', '\\d', '\\s', '\\u{1F600}', '-', 'ab'];
  const quantified = () => pick(atoms.slice(0, -1)) + pick(['', '', '*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??']);
  const sequence = () => Array.from({ length: 1 + Math.floor(next() * 4) }, quantified).join('');
  const pattern = () => {
    const inside = `${sequence()}|${sequence()}`;
    return pick([
      sequence(),
      inside,
      `\\b${sequence()}`,
      `${sequence()}$`,
      `${sequence()}(?:${inside})`,
      `(a${sequence()})+`,
    ]);
  };
  for (let round = 0; round < 5_000; round++) {
    const source = pattern();
    const text = Array.from({ length: 12 }, () => pick(['a', 'b', 'é', '😀', ' ', '1', '-', '\n'])).join('');
    expect(found(source, text), `${source} in ${JSON.stringify(text)}`).toEqual(byJavaScript(source, text));
  }
});

test.each(['(?=a)', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?:a{500}){500}', 'a{2000}'])(
  'a pattern that needs backtracking or is too long is refused with the reason: %s',
  (source) => {
    expect(() => settingsSchema.parse({ version: 1, ignoreText: [source] })).toThrow(/linear time: it /);
    expect(() => settingsSchema.parse({ version: 1, redact: [source] })).toThrow(/linear time: it /);
  },
);

test.each(['(', 'a**', '[b-a]', '\\u{110000}'])('what is no pattern is refused: %s', (source) => {
  expect(() => settingsSchema.parse({ version: 1, ignoreText: [source] })).toThrow(/not a regular expression/);
});

const evil = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '(.*)*x',
  '(\\w+\\s?)*$',
  'a*a*a*a*b',
  '.*.*=.*',
  '(a?){100}a{100}',
  '(?:[ab]*a[ab]{9})*c',
];

test.each(evil)('no text takes long to search: %s', async (source) => {
  for (const text of [
    `${'a'.repeat(30)}!`,
    `${'a'.repeat(20_000)}!`,
    'ab'.repeat(10_000),
    `${'word '.repeat(4_000)}!`,
  ]) {
    const pattern = new LinearPattern(source);
    const search = () => {
      try {
        pattern.findAll(text);
      } catch (error) {
        expect(error).toMatchObject({ code: 'cassette_unusable', message: expect.stringContaining('too many steps') });
      }
    };
    expect(await cpuMsOf(search)).toBeLessThan(1_000);
    expect(await cpuMsOf(search)).toBeLessThan(1_000);
  }
});
