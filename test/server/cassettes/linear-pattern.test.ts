/**
 * The patterns of `cassette.json`: the matches are those of JavaScript, and no text takes long.
 *
 * @suite measured
 */
import { expect, test, vi } from 'vitest';
import { cassetteSettingsSchema } from '../../../server/cassettes/cassette-settings.ts';
import { LinearPattern } from '../../../server/cassettes/linear-pattern.ts';
import { Redactor } from '../../../server/exchange/redact/redactor.ts';
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
  ['(?<$é>x)|(?<y>y)', 'xy'],
  ['(?:\\d{1,3}\\.){3}\\d{1,3}', 'at 127.0.0.1.'],
  ['\\ud83d\\ude00|[\\ud83d\\ude01]', '😀😁😂'],
  ['[[:a]+|[(?<b]+|[.{1}]', 'a:[ (?<b .{1}'],
  ['[^]b|[]', 'ab\nb'],
  ['\\cJ\\0|[\\cJ\\b]', '\n\0\n\b'],
  ['[+--]', '+,-.'],
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

const codesBetween = (first: number, last: number) => Array.from({ length: last - first }, (_, at) => first + at);
const codes = [...codesBetween(0, 0x3100), ...codesBetween(0xf800, 0x1_0200), ...codesBetween(0x1_f300, 0x1_fb00)];
const manyCharacters = codes.map((code) => String.fromCodePoint(code)).join('');

test.each([
  ...['.', '\\s', '\\S', '[\\s]', '[\\S]', '[^\\s]', '[^\\S]', '[\\s\\S]', '\\w', '\\W', '[^\\W]', '\\d', '[\\D]'],
  ...['\\p{Lu}', '\\P{L}', '[^\\p{N}]', '\\p{Script=Greek}', '\\p{gc=Sm}', '\\p{White_Space}', '\\B.'],
])('%s stands for the same characters as in JavaScript', (source) => {
  const [own, theirs] = [found, byJavaScript].map(
    (find) => new Set(find(source, manyCharacters).map(({ start }) => start)),
  );
  const starts = [...(own ?? []), ...(theirs ?? [])];
  const differing = starts.filter((start) => own?.has(start) !== theirs?.has(start));
  expect(differing.map((start) => manyCharacters.codePointAt(start)?.toString(16))).toEqual([]);
});

test.each(['^c|x$', '\\b\\w', '\\bcat\\b', '\\Bat', '\\d+', 'c{400}', '😀+', '[^a]', 'x?'])(
  'in a long text %s finds the same as in JavaScript',
  (source) => {
    for (const shift of [0, 1, 2, 3]) {
      const text = `x${'-'.repeat(shift)}${`cat concat 😀😀 123 ${'c'.repeat(899)}\n`.repeat(12)}x`;
      expect(found(source, text)).toEqual(byJavaScript(source, text));
    }
  },
);

test.each(['(?=a)', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?:a{500}){500}', 'a{2000}'])(
  'a pattern that needs backtracking or is too long is refused with the reason: %s',
  (source) => {
    expect(() => cassetteSettingsSchema.parse({ version: 1, ignoreText: [source] })).toThrow(/linear time: it /);
    expect(() => cassetteSettingsSchema.parse({ version: 1, redact: [source] })).toThrow(/linear time: it /);
  },
);

test('what RE2 does not know is refused with its reason', () => {
  const settings = { version: 1, ignoreText: ['\\p{scx=Greek}'] };
  expect(() => cassetteSettingsSchema.parse(settings)).toThrow(/linear time: .*\\\\p\{scx=Greek\}/);
});

test.each(['(', 'a**', '[b-a]', '\\u{110000}'])('what is no pattern is refused: %s', (source) => {
  expect(() => cassetteSettingsSchema.parse({ version: 1, ignoreText: [source] })).toThrow(/not a regular expression/);
});

/** The allowance of 0.46 s and the one search that exceeds it, which takes 0.5 s when each line is counted for coverage. */
const mostMs = 2_000;

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
  'a*a*b|a',
  '(?:a*){150}',
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
    expect(await cpuMsOf(search)).toBeLessThan(mostMs);
    expect(await cpuMsOf(search)).toBeLessThan(mostMs);
  }
});

test('short texts do not take long together', async () => {
  const pattern = new LinearPattern('[ab]{90}x|(?:a*){90}b|a');
  const search = () => {
    expect(() => {
      for (let count = 0; count < 50_000; count++) pattern.findAll(`${'a'.repeat(80)}!`);
    }).toThrow(/too many steps/);
  };
  expect(await cpuMsOf(search)).toBeLessThan(3_000);
});

/** With a processor on which each search takes ten seconds. */
function whileSlow<Result>(work: () => Result): Result {
  const time = vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: 10_000_000, system: 0 }));
  try {
    return work();
  } finally {
    time.mockRestore();
  }
}

test('a pause of the process does not make a pattern slow', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
  try {
    expect(found('order-\\d+', 'order-1')).toEqual([{ start: 0, end: 7 }]);
  } finally {
    clock.mockRestore();
  }
});

test('a text in which a pattern takes too long is redacted as a whole', () => {
  const redactor = new Redactor([], [new LinearPattern('order-\\d+')]);
  expect(redactor.text('to order-1')).toBe('to [redacted]');
  const text = 'order-1 '.repeat(10);
  expect(whileSlow(() => redactor.text(text))).toBe('[redacted]');
  expect(redactor.text('to order-1')).toBe('[redacted]');
});
