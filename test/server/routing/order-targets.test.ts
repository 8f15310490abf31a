import { describe, expect, test } from 'vitest';
import { orderTargets } from '../../../server/routing/picker.ts';
import type { Target } from '../../../server/routing/snapshot.ts';
import { compiledProvider } from '../../support/providers.ts';

const provider = compiledProvider({ baseUrl: 'http://127.0.0.1:9/v1' });

function target(model: string, weight = 1, priority = 0): Target {
  return { provider, model, weight, priority };
}

/** Pseudo-random numbers that are the same each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How often each model comes first. */
function firsts(targets: readonly Target[], draws = 20_000): Record<string, number> {
  const random = seeded(7);
  const counts: Record<string, number> = {};
  for (let draw = 0; draw < draws; draw++) {
    const first = orderTargets(targets, random)[0]?.model ?? '';
    counts[first] = (counts[first] ?? 0) + 1 / draws;
  }
  return counts;
}

describe('orderTargets', () => {
  test('asks by priority first, whatever the weights', () => {
    const targets = [target('last', 1000, 2), target('first', 0, 0), target('middle', 1, 1)];
    const order = orderTargets(targets).map(({ model }) => model);
    expect(order).toEqual(['first', 'middle', 'last']);
  });

  test('shares among equals by weight', () => {
    const shares = firsts([target('a', 1), target('b', 2), target('c', 5)]);
    expect(shares.a).toBeCloseTo(1 / 8, 1);
    expect(shares.b).toBeCloseTo(2 / 8, 1);
    expect(shares.c).toBeCloseTo(5 / 8, 1);
    expect((shares.c ?? 0) / (shares.a ?? 1)).toBeGreaterThan(4.5);
    expect((shares.c ?? 0) / (shares.a ?? 1)).toBeLessThan(5.5);
  });

  test('shares evenly where the weights are the same, also fractions', () => {
    for (const weight of [0.01, 1, 1000]) {
      const shares = firsts([target('a', weight), target('b', weight)]);
      expect(Math.abs((shares.a ?? 0) - 0.5)).toBeLessThan(0.02);
    }
  });

  test('asks one of weight 0 only after all others of its priority, and before the next priority', () => {
    const targets = [target('spare', 0), target('a', 0.001), target('b', 1), target('next', 5, 1)];
    const random = seeded(3);
    for (let draw = 0; draw < 1_000; draw++) {
      const order = orderTargets(targets, random).map(({ model }) => model);
      expect(order.slice(2)).toEqual(['spare', 'next']);
    }
  });

  test('keeps every target, once, and does not touch the list it is given', () => {
    const targets = [target('a'), target('b', 3), target('c', 0), target('d', 1, 1)];
    const before = [...targets];
    expect(new Set(orderTargets(targets))).toEqual(new Set(targets));
    expect(targets).toEqual(before);
  });

  test('draws right at the ends of the random numbers', () => {
    for (const value of [0, 1 - Number.EPSILON]) {
      const order = orderTargets([target('spare', 0), target('a', 2)], () => value);
      expect(order[0]?.model).toBe('a');
    }
  });
});
