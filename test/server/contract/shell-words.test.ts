import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { clientGuides, stepsOf } from '../../../server/contract/clients/client-guides.ts';
import { quoted, shellWord } from '../../../server/contract/shell-words.ts';

const oddValues = [
  '',
  'plain/model-4.1:free',
  "it's",
  '$(touch x) `touch x` $HOME',
  'back\\slash\\',
  'x" & calc & "',
  "x'; calc; '",
  ...['\u2018', '\u2019', '\u201a', '\u201b', '\u201c', '\u201d', '\u201e'].map((quote) => `x${quote}; calc; ${quote}`),
  '\u2019',
  '\u0411 \u0412 \u0413',
  '模型 🦥',
  '%PATH% !PATH! ^& | < >',
  'two\nlines',
  '-n',
  '~ *',
];

test.each(['sh', 'bash'])('%s reads every value as it is', (program) => {
  for (const value of oddValues) {
    for (const word of [quoted(value, 'sh'), shellWord(value)]) {
      const read = execFileSync(program, ['-c', `export A=${word}\nprintf '%s' "$A" x ${word}`], { encoding: 'utf8' });
      expect(read).toBe(`${value}x${value}`);
    }
  }
});

test('a word without anything special stays readable', () => {
  expect(shellWord('openai/gpt-4.1@2026:free')).toBe('openai/gpt-4.1@2026:free');
});

test('fish reads every value as it is', () => {
  for (const value of oddValues) {
    const [, inside] = /^'((?:[^'\\]|\\[\\'])*)'$/.exec(quoted(value, 'fish') ?? '') ?? [];
    expect(inside?.replaceAll(/\\([\\'])/g, '$1')).toBe(value);
  }
});

describe('PowerShell', () => {
  /** As its tokenizer does (`ScanStringLiteral`): five quotation marks are the same to it. */
  const textOrCode =
    /['\u2018-\u201b]((?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*)['\u2018-\u201b]|\[char\]0x([0-9A-F]+)/g;

  test('reads every value as it is, also in a code page that has other characters in its place', () => {
    for (const value of oddValues) {
      const word = quoted(value, 'powershell') ?? '';
      const windows1252 = new TextDecoder('windows-1252').decode(Buffer.from(word));
      expect(windows1252).toBe(word);
      expect(word).toMatch(/^'/);
      expect(word.replace(textOrCode, 'x')).toMatch(/^x(?: \+ x)*$/);
      const read = [...word.matchAll(textOrCode)].map(([, text, code]) =>
        code === undefined ? text?.replaceAll("''", "'") : String.fromCharCode(Number.parseInt(code, 16)),
      );
      expect(read.join('')).toBe(value);
    }
  });
});

test('cmd is given nothing that ends its quotation marks or names a variable', () => {
  for (const value of oddValues) {
    const word = quoted(value, 'cmd');
    if (word === null) expect(value).toMatch(/["%\n]|[^ -~]/);
    else expect([word, /["%\r\n]/.test(word)]).toEqual([value, false]);
  }
  expect(quoted('a & b | c', 'cmd')).toBe('a & b | c');
});

test('a model whose name is a command is none in the snippets of any client', () => {
  const model = "m'$(touch here)`touch here`";
  const snippets = clientGuides.flatMap((guide) =>
    stepsOf(guide, { baseUrl: 'http://127.0.0.1:4810/v1', key: "k'$(touch here)", model }).flatMap((step) =>
      'snippet' in step && /^(?:export|curl) /.test(step.snippet) ? [step.snippet] : [],
    ),
  );
  expect(snippets.length).toBeGreaterThan(8);
  for (const snippet of snippets) {
    // What stands outside of single quotes.
    const outside = snippet.replaceAll(/'[^']*'|\\'/g, '');
    expect(outside).not.toMatch(/[$`']|touch/);
  }
});
