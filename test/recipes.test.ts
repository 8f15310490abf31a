/** Checks that the recipes of `CONTRIBUTING.md` lead to files that exist, and that what they name is found there. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const section = guide.split(/^## /m).find((part) => part.startsWith('Recipes\n')) ?? '';
const recipes = section.split(/^### /m).slice(1);
const steps = recipes.flatMap((recipe) => {
  const title = recipe.slice(0, recipe.indexOf('\n'));
  return [...recipe.matchAll(/^(\d+)\. ([\s\S]*?)(?=^\d+\. |$(?![\s\S]))/gm)].map(
    ([, number = '', text = '']) => [`${title}, step ${number}`, wordsIn(text)] as const,
  );
});

test('four recipes of several steps are found, in at most eighty lines', () => {
  expect(recipes).toHaveLength(4);
  expect(steps.length).toBeGreaterThan(15);
  expect(section.split('\n').length).toBeLessThanOrEqual(80);
});

describe.each(steps)('%s', (_, words) => {
  const paths = words.filter((word) => word.includes('/'));

  test('names paths that exist', () => {
    expect(paths.filter((path) => filesOf(path).length === 0)).toEqual([]);
  });

  test('names what stands in its files', () => {
    const texts = paths.flatMap(filesOf).map((file) => readFileSync(join(root, file), 'utf8'));
    const names = words.filter((word) => /^\w+$/.test(word));
    expect(names.filter((name) => !texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)))).toEqual([]);
  });
});

/** What the text sets in code: `a/path.ts`, `a/folder/`, `name`. */
function wordsIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word.replace(/\(…\)$/, ''));
}

/** The files at a path, or below it; `<api>` stands for any folder. Empty if there is nothing, or if it is a command. */
function filesOf(path: string): string[] {
  const found = globSync(path.replaceAll(/<\w+>/g, '*').replace(/\/$/, ''), { cwd: root });
  return found.flatMap((each) =>
    statSync(join(root, each)).isFile() ? [each] : globSync(`${each}/**/*.{ts,tsx,json,css}`, { cwd: root }),
  );
}
