import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { estimateTokens } from '../../../../../server/apis/core/usage/prompt-estimate.ts';
import { leastWorkOf } from '../../../../support/cpu-work.ts';

const sample = (name: string) => readFileSync(new URL(`./token-samples/${name}.txt`, import.meta.url), 'utf8');

/**
 * Counted with OpenAI's own vocabularies: `o200k_base` (gpt-4o and later), `cl100k_base` (gpt-4, embeddings). None of
 * the texts was used to find the weights. `within` is the accepted error relative to the newer vocabulary.
 */
const counted = [
  { name: 'english', o200k: 325, cl100k: 331, within: 0.05 },
  { name: 'chinese', o200k: 320, cl100k: 463, within: 0.05 },
  { name: 'code', o200k: 439, cl100k: 435, within: 0.08 },
  { name: 'json-lines', o200k: 464, cl100k: 462, within: 0.08 },
  { name: 'german', o200k: 139, cl100k: 161, within: 0.08 },
  { name: 'russian', o200k: 121, cl100k: 198, within: 0.15 },
  { name: 'japanese', o200k: 146, cl100k: 211, within: 0.15 },
];

test.each(counted)('$name is estimated within $within of what was counted', ({ name, o200k, within }) => {
  expect(Math.abs(estimateTokens(sample(name)) / o200k - 1)).toBeLessThan(within);
});

test.each(counted)('$name is never half nor double, whichever vocabulary a model has', ({ name, o200k, cl100k }) => {
  const estimate = estimateTokens(sample(name));
  expect(estimate).toBeGreaterThan(Math.max(o200k, cl100k) / 2);
  expect(estimate).toBeLessThan(Math.min(o200k, cl100k) * 2);
});

test('nothing is no token, and a word is one', () => {
  expect(estimateTokens('')).toBe(0);
  expect(estimateTokens('Hello')).toBe(1);
});

test('a long text is estimated from pieces of it, near to what all of it gives, and in bounded time', async () => {
  const pieces = counted.map(({ name }) => sample(name)).join('\n');
  const one = estimateTokens(pieces);
  expect(estimateTokens(pieces.repeat(50)) / (one * 50)).toBeGreaterThan(0.9);
  expect(estimateTokens(pieces.repeat(50)) / (one * 50)).toBeLessThan(1.1);
  const long = 'a word and another one. '.repeat(1_000_000);
  expect(await leastWorkOf(() => expect(estimateTokens(long)).toBeGreaterThan(1_000_000), 150)).toBeLessThan(150);
});
