import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesAny } from '../../../server/routing/compile-keys.ts';
import { leastWorkOf } from '../../support/cpu-work.ts';
import { tries } from '../../support/sweep.ts';

describe('matchesAny', () => {
  test.each<[string[], string, boolean]>([
    [['gpt-x'], 'gpt-x', true],
    [['gpt-x'], 'gpt-xy', false],
    [['gpt-x'], 'GPT-X', false],
    [[], 'gpt-x', false],
    [['*'], '', true],
    [['gpt-*'], 'gpt-', true],
    [['gpt-*'], 'gpt-x/y\nz', true],
    [['gpt-*'], 'a-gpt-x', false],
    [['*-mini'], 'gpt-mini', true],
    [['*-mini'], 'gpt-mini-2', false],
    [['a*b*c'], 'abc', true],
    [['a*b*c'], 'a-c-b-c', true],
    [['a*b*c'], 'acb', false],
    [['ab*ba'], 'aba', false],
    [['a**b'], 'ab', true],
    [['**'], 'anything', true],
    [['*x*'], 'axb', true],
    [['*x*'], 'ab', false],
    [['a.c'], 'abc', false],
    [['a+(b)[c]{2}^$?|\\'], 'a+(b)[c]{2}^$?|\\', true],
    [['no', 'g*'], 'gpt', true],
  ])('%j matches %j: %s', (patterns, name, expected) => {
    expect(matchesAny(patterns)(name)).toBe(expected);
  });

  test('agrees with the regular expression that a pattern stands for', () => {
    const small = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 6 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    fc.assert(
      fc.property(small, names, (pattern, name) => {
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*');
        expect(matchesAny([pattern])(name)).toBe(new RegExp(`^${source}$`, 's').test(name));
      }),
      { numRuns: tries(20_000) },
    );
  });

  test('takes little time for a long name, however many stars there are', async () => {
    const matches = matchesAny(['a*a*a*a*a*a*a*a*b']);
    const work = () => {
      expect(matches(`${'a'.repeat(200_000)}c`)).toBe(false);
      expect(matches(`${'a'.repeat(200_000)}b`)).toBe(true);
    };
    expect(await leastWorkOf(work, 100)).toBeLessThan(100);
  });
});
