import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messagesFor } from '../../../electron/messages.ts';
import { en } from '../../../renderer/messages/en/en.ts';
import { zh } from '../../../renderer/messages/zh/zh.ts';

type Texts = Record<string, unknown>;

/** All texts by path, with `count` for every number, name and measure in them. */
function textsFor(count: number, messages: Texts): Map<string, string> {
  const numberNames = new Set<string>();
  walk(messages, '', (_path, text) => {
    for (const [, name] of String(text).matchAll(/(\w+) === [01]\b/g)) if (name) numberNames.add(name);
  });
  const texts = new Map<string, string>();
  walk(messages, '', (path, text) => {
    texts.set(path, typeof text === 'function' ? say(text as Say, count, numberNames) : String(text));
  });
  return texts;
}

type Say = (...values: unknown[]) => unknown;

/** A text chooses between singular and plural by the count itself or by the formatted count. */
function say(text: Say, count: number, numberNames: ReadonlySet<string>): string {
  const valueFor = (name: string) => (numberNames.has(name) ? count : String(count));
  const fields: object = new Proxy({}, { get: (_, name) => fieldOf(String(name)) });
  const fieldOf = (name: string): unknown => {
    if (name === 'join') return () => String(count);
    return name === 'map' ? (sayEach: (each: object) => unknown) => [sayEach(fields)] : valueFor(name);
  };
  const values = parametersOf(text).map((name) => (isObject(name, text) ? fields : valueFor(name)));
  return String(text(...values));
}

/** Stands for a parameter that is destructured in the parameter list. */
const takenApart = '{}';

function parametersOf(text: Say): string[] {
  const source = String(text);
  const list = source
    .slice(0, source.indexOf('=>'))
    .trim()
    .replace(/^\(|\)$/g, '');
  const names = list.replace(/\{[^}]*\}/g, takenApart).split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** These are passed to a function that destructures them, or each of them. */
const takenApartLater = new Set(['unpriced', 'settings', 'stronger']);

function isObject(name: string, text: Say): boolean {
  return name === takenApart || takenApartLater.has(name) || new RegExp(`\\b${name}\\.\\w`).test(String(text));
}

function walk(messages: Texts, prefix: string, visit: (path: string, text: unknown) => void): void {
  for (const [name, value] of Object.entries(messages)) {
    if (typeof value === 'object' && value !== null) walk(value as Texts, `${prefix}${name}.`, visit);
    else visit(prefix + name, value);
  }
}

const glossary = readFileSync(join(import.meta.dirname, '../../../renderer/messages/glossary.md'), 'utf8');
const english = { window: en, desktop: messagesFor('en') };
const chinese = { window: zh, desktop: messagesFor('zh-CN') };

describe('the glossary', () => {
  const forbidden = { en: columnOf(2), zh: columnOf(4) };

  it.each([
    ['English', english, forbidden.en, true],
    ['Chinese', chinese, forbidden.zh, false],
  ] as const)('forbids words that no %s text uses', (_language, catalogue, words, hasWordEnds) => {
    expect(words.length).toBeGreaterThan(10);
    const uses = [...textsFor(2, catalogue)].flatMap(([path, text]) =>
      words.filter((word) => (hasWordEnds ? wholeWord(word) : new RegExp(word)).test(text)).map((word) => [path, word]),
    );
    expect(uses).toEqual([]);
  });
});

describe('counts in English', () => {
  const nouns =
    'alias|attempt|browser|certificate|character|credential|day|dimension|event|key|minute|model|provider|request|row|target|time|token|tool';
  const wrong = {
    0: new RegExp(`\\b0 (?:(?!of |a )\\w+ )?(?:${nouns})\\b(?!-)`),
    1: new RegExp(
      `\\b1 (?:(?!of |a )\\w+ )?(?:${nouns})(?:e?s)\\b|\\b1 (?:(?!of |a )\\w+ )?(?:${nouns}) (?:have|were|do|are)\\b`,
    ),
    2: new RegExp(
      `\\b2 (?:(?!of |a )\\w+ )?(?:${nouns})\\b(?!-)|\\b2 (?:(?!of |a )\\w+ )?(?:${nouns})s (?:has|was|does|is)\\b`,
    ),
  };

  it.each([0, 1, 2] as const)('agree with their nouns and verbs for %s', (count) => {
    const texts = [...textsFor(count, english)];
    expect(texts.filter(([, text]) => text.includes(`${count} token`)).length).toBeGreaterThan(5);
    expect(texts.filter(([, text]) => wrong[count].test(text))).toEqual([]);
  });
});

/** The words in one of the table's columns, without those in italics. */
function columnOf(index: number): string[] {
  const rows = glossary.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.slice(1).map((row) => row.split('|').slice(1, -1)[index] ?? '');
  const words = cells.flatMap((cell) => cell.split(',')).map((word) => word.trim());
  return words.filter((word) => word !== '' && !word.startsWith('*'));
}

function wholeWord(word: string): RegExp {
  return new RegExp(`\\b${word}s?\\b`, 'i');
}
