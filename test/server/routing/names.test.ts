import { describe, expect, test } from 'vitest';
import { nearestName } from '../../../server/contract/nearest-name.ts';
import { createKeySecret, keyChecksumHolds, keyPrefix } from '../../../server/routing/key-secret.ts';
import { leastWorkOf } from '../../support/cpu-work.ts';

describe('nearestName', () => {
  const names = ['gpt-x', 'gpt-x-mini', 'claude-y', 'text-embedding-3-small'];

  test.each([
    ['gpt-x', 'gpt-x'],
    ['gtp-x', 'gpt-x'],
    ['GPT-X', 'gpt-x'],
    ['gpt-x-mni', 'gpt-x-mini'],
    ['text-embeding-3-smal', 'text-embedding-3-small'],
    ['something else altogether', null],
    ['', null],
  ])('for %j is %j', (wanted, nearest) => {
    expect(nearestName(wanted, names)).toBe(nearest);
  });

  test('of no names is none', () => {
    expect(nearestName('gpt-x', [])).toBeNull();
  });

  test('of equals is the first', () => {
    expect(nearestName('model-a', ['model-b', 'model-c'])).toBe('model-b');
  });

  test('of a name as long as a book is found quickly', async () => {
    const long = 'x'.repeat(1_000_000);
    expect(await leastWorkOf(() => expect(nearestName(long, names)).toBeNull(), 100)).toBeLessThan(100);
  });
});

describe('a new key', () => {
  test('has the prefix, 42 random characters and a checksum that holds', () => {
    const secret = createKeySecret();
    expect(secret).toMatch(/^sk-sluice-[0-9A-Za-z]{48}$/);
    expect(keyChecksumHolds(secret)).toBe(true);
  });

  test('is never the same', () => {
    expect(new Set(Array.from({ length: 1_000 }, createKeySecret)).size).toBe(1_000);
  });

  test('draws every character about as often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 3_000; round++) {
      const random = createKeySecret().slice(keyPrefix.length, -6);
      for (const character of random) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const mean = (3_000 * 42) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count / mean - 1)).toBeLessThan(0.2);
  });

  test('with one character mistyped, lost, added or two swapped is told from an unknown key', () => {
    const secret = createKeySecret();
    for (let place = keyPrefix.length; place < secret.length; place++) {
      const [before, character, after] = [secret.slice(0, place), secret[place] ?? '', secret.slice(place + 1)];
      expect(keyChecksumHolds(before + (character === 'a' ? 'b' : 'a') + after)).toBe(false);
      expect(keyChecksumHolds(before + after)).toBe(false);
      expect(keyChecksumHolds(`${before}x${character}${after}`)).toBe(false);
      const next = after[0];
      if (next && next !== character) expect(keyChecksumHolds(before + next + character + after.slice(1))).toBe(false);
    }
  });

  test.each(['', 'sk-sluice-', 'x', 'sk-openai-something'])('%j is not one', (text) => {
    expect(keyChecksumHolds(text)).toBe(false);
  });
});
