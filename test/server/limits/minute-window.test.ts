import { describe, expect, test } from 'vitest';
import { MinuteWindow } from '../../../server/limits/account.ts';

describe('the last minute', () => {
  test('holds what happened in it, and lets go of it within a second after', () => {
    const window = new MinuteWindow(0);
    window.add(10_500, 1, 10_500);
    window.add(11_000, 2, 11_000);
    expect(window.sum(70_999)).toBe(3);
    expect(window.sum(71_000)).toBe(2);
    expect(window.sum(72_000)).toBe(0);
  });

  test('tells when there is room again, and when it is empty', () => {
    const window = new MinuteWindow(5_000);
    for (const at of [5_000, 5_900, 8_200]) window.add(at, 1, at);
    expect(window.waitMs(4, 9_000)).toBe(0);
    expect(window.waitMs(3, 9_000)).toBe(66_000 - 9_000);
    expect(window.waitMs(1, 9_000)).toBe(69_000 - 9_000);
    expect(window.emptyInMs(9_000)).toBe(69_000 - 9_000);
    expect(window.sum(65_999)).toBe(3);
    expect(window.sum(66_000)).toBe(1);
  });

  test('takes back what was noted, as long as it is in it', () => {
    const window = new MinuteWindow(0);
    window.add(1_000, 10, 1_000);
    window.add(1_000, -4, 30_000);
    expect(window.sum(30_000)).toBe(6);
    window.add(1_000, -4, 90_000);
    expect(window.sum(90_000)).toBe(0);
  });

  test('takes up what happened before it was begun', () => {
    const window = new MinuteWindow(2_000);
    window.add(2_000 - 59_000, 1, 2_000);
    window.add(2_000 - 70_000, 1, 2_000);
    expect(window.sum(2_000)).toBe(1);
    expect(window.sum(4_000)).toBe(0);
  });

  test('is as a list of all moments says, to a second', () => {
    const random = generator(11);
    const window = new MinuteWindow(0);
    const moments: number[] = [];
    let now = 0;
    for (let step = 0; step < 5_000; step++) {
      now += Math.floor(random() ** 6 * 90_000);
      if (random() < 0.7) {
        moments.push(now);
        window.add(now, 1, now);
      }
      const within = (ms: number) => moments.filter((at) => at > now - ms).length;
      expect(window.sum(now)).toBeGreaterThanOrEqual(within(60_000));
      expect(window.sum(now)).toBeLessThanOrEqual(within(61_001));
      const wait = window.waitMs(5, now);
      if (wait > 0) expect(window.sum(now)).toBeGreaterThanOrEqual(5);
    }
  });
});

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
