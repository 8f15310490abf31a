import { describe, expect, test } from 'vitest';
import { compileTimeouts } from '../../../server/routing/snapshot.ts';

describe('the beginning of an answer', () => {
  test.each([
    [{}, [600_000, 600_000], [60_000, 60_000], [120_000, 120_000]],
    [{ firstByteMs: 5_000 }, [5_000, 600_000], [5_000, 60_000], [5_000, 120_000]],
    [{ firstByteMs: 300_000 }, [300_000, 600_000], [300_000, 300_000], [300_000, 300_000]],
    [{ firstContentMs: 90_000 }, [600_000, 90_000], [90_000, 90_000], [120_000, 90_000]],
    [{ firstByteMs: 1, firstContentMs: 2 }, [1, 2], [1, 2], [1, 2]],
  ])('of a target with %j is waited for', (configured, last, stream, whole) => {
    const compiled = compileTimeouts(configured);
    const beginning = ({ firstByteMs, firstContentMs }: typeof compiled.last) => [firstByteMs, firstContentMs];
    expect([beginning(compiled.last), beginning(compiled.stream), beginning(compiled.whole)]).toEqual([
      last,
      stream,
      whole,
    ]);
  });

  test('is the only part with a shorter timeout while another target is left', () => {
    const { last, stream, whole } = compileTimeouts({ idleMs: 7_000, totalMs: 9_000 });
    for (const early of [stream, whole]) {
      expect({ ...early, firstByteMs: 0, firstContentMs: 0 }).toEqual({ ...last, firstByteMs: 0, firstContentMs: 0 });
    }
    expect(last.progressMs).toBe(600_000);
  });
});
