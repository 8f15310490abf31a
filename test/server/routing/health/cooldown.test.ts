import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../../../server/contract/ledger.ts';
import { type FakeRun, fakeRun } from './harness.ts';

/** Milliseconds until the primary `a` is first again, checked in small steps and without trying it. */
function cooldownMs(run: FakeRun): number {
  const fromMs = run.nowMs();
  while (!run.book.isAvailable(run.target('a'), run.nowMs())) {
    run.pass(100);
    if (run.nowMs() - fromMs > 7_200_000) return Number.POSITIVE_INFINITY;
  }
  return run.nowMs() - fromMs;
}

function failUntilCooling(run: FakeRun, failure: FailureClass): number {
  for (let count = 1; count <= 20; count++) {
    run.attempt('a', { failure });
    if (!run.book.isAvailable(run.target('a'), run.nowMs())) return count;
  }
  return Number.POSITIVE_INFINITY;
}

describe('a cooldown', () => {
  test.each<{ failure: FailureClass; after: number; firstMs: number }>([
    { failure: 'transient', after: 3, firstMs: 1_000 },
    { failure: 'stream-broken', after: 3, firstMs: 1_000 },
    { failure: 'silent', after: 2, firstMs: 1_000 },
    { failure: 'model-unavailable', after: 1, firstMs: 5_000 },
    { failure: 'rate-limit', after: 1, firstMs: 1_000 },
    { failure: 'quota', after: 1, firstMs: 600_000 },
    { failure: 'credential', after: 1, firstMs: 300_000 },
  ])('begins after $after × $failure and lasts $firstMs ms at first', ({ failure, after, firstMs }) => {
    const run = fakeRun();
    expect(failUntilCooling(run, failure)).toBe(after);
    expect(cooldownMs(run)).toBe(firstMs);
  });

  test.each<FailureClass>(['rejected', 'client-gone', 'too-large'])('never follows from %s', (failure) => {
    const run = fakeRun();
    expect(failUntilCooling(run, failure)).toBe(Number.POSITIVE_INFINITY);
    expect(run.order()).toEqual(['a', 'b']);
  });

  test('grows from trial to trial, up to 20 s', () => {
    const run = fakeRun();
    failUntilCooling(run, 'transient');
    const lengths = Array.from({ length: 7 }, () => {
      const length = cooldownMs(run);
      run.attempt('a', { failure: 'transient' });
      return length;
    });
    expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
  });

  test('lasts as long as the upstream requested, and at most an hour', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'rate-limit', retryAfterMs: 42_000 });
    expect(cooldownMs(run)).toBe(42_000);
    run.attempt('a', { failure: 'rate-limit', retryAfterMs: 1e12 });
    expect(cooldownMs(run)).toBe(3_600_000);
  });

  test('of a broken target follows the upstream’s request only up to 20 s', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'transient', retryAfterMs: 600_000 });
    expect(cooldownMs(run)).toBe(20_000);
  });

  test('is one, however many requests fail at the same time', () => {
    const run = fakeRun();
    for (let count = 0; count < 100; count++) run.book.began(run.target('a'), 'c1');
    for (let count = 0; count < 100; count++) {
      run.book.report({
        target: run.target('a'),
        credentialId: 'c1',
        failure: 'transient',
        isAnswer: true,
        firstByteMs: null,
        retryAfterMs: null,
      });
    }
    expect(cooldownMs(run)).toBe(1_000);
  });

  test('begins at an error rate of a half, though failures never come in a row', () => {
    const run = fakeRun();
    let cooledAfter = 0;
    for (let count = 1; count <= 40 && cooledAfter === 0; count++) {
      run.attempt('a', { failure: count % 2 === 0 ? 'transient' : null });
      if (!run.book.isAvailable(run.target('a'), run.nowMs())) cooledAfter = count;
      run.pass(100);
    }
    expect(cooledAfter).toBeGreaterThanOrEqual(10);
    expect(cooledAfter).toBeLessThanOrEqual(14);
  });

  test('does not begin at an error rate of a fifth', () => {
    const run = fakeRun();
    for (let count = 1; count <= 500; count++) {
      run.attempt('a', { failure: count % 5 === 0 ? 'transient' : null });
      expect(run.order()[0]).toBe('a');
      run.pass(100);
    }
  });
});

describe('a trial', () => {
  test('is made by one request at a time', () => {
    const run = fakeRun();
    failUntilCooling(run, 'transient');
    run.pass(1_000);
    expect(run.order()).toEqual(['a', 'b']);
    expect(run.order()).toEqual(['a', 'b']);
    run.book.began(run.target('a'), 'c1');
    expect(run.order()).toEqual(['b', 'a']);
    run.pass(5_000);
    expect(run.order()).toEqual(['b', 'a']);
    run.attempt('a');
    expect(run.order()).toEqual(['a', 'b']);
  });

  test('that gets no answer allows the next one after 20 s', () => {
    const run = fakeRun();
    failUntilCooling(run, 'silent');
    run.pass(1_000);
    expect(run.order()[0]).toBe('a');
    run.book.began(run.target('a'), 'c1');
    run.pass(19_000);
    expect(run.order()[0]).toBe('b');
    run.pass(1_000);
    expect(run.order()[0]).toBe('a');
  });

  test.each<FailureClass>(['rejected', 'client-gone', 'too-large'])('that ends in %s decides nothing', (failure) => {
    const run = fakeRun();
    failUntilCooling(run, 'transient');
    run.pass(1_000);
    run.attempt('a', { failure });
    expect(run.order()[0]).toBe('a');
    expect(run.book.provider('a')?.targets.get('m')?.circuit.isClosed).toBe(false);
  });

  test('that succeeds puts the target on probation: one failure is enough until it has answered three times more', () => {
    const run = fakeRun();
    failUntilCooling(run, 'transient');
    run.pass(1_000);
    run.attempt('a');
    run.attempt('a', { failure: 'transient' });
    expect(cooldownMs(run)).toBe(2_000);
    for (let count = 0; count < 4; count++) run.attempt('a');
    run.attempt('a', { failure: 'transient' });
    expect(run.order()[0]).toBe('a');
  });

  test('ends with the first of its answer, and begins again where that breaks', () => {
    const run = fakeRun();
    failUntilCooling(run, 'transient');
    run.pass(1_000);
    run.picker.began(run.target('a'), 'c1');
    expect(run.order()[0]).toBe('b');
    run.picker.answers(run.target('a'), 'c1');
    expect(run.order()[0]).toBe('a');
    const broken = { failure: 'stream-broken', isAnswer: false, firstByteMs: 10, retryAfterMs: null } as const;
    run.picker.report({ target: run.target('a'), credentialId: 'c1', ...broken });
    expect(cooldownMs(run)).toBe(2_000);
  });

  test('does not include an older request that succeeds during the cooldown', () => {
    const run = fakeRun();
    run.book.began(run.target('a'), 'c1');
    failUntilCooling(run, 'transient');
    run.book.report({
      target: run.target('a'),
      credentialId: 'c1',
      failure: null,
      isAnswer: false,
      firstByteMs: 50,
      retryAfterMs: null,
    });
    expect(run.order()[0]).toBe('b');
  });
});

describe('under steady traffic', () => {
  /**
   * Sends ten requests per second. Each goes to the primary if that is first, and otherwise or after a failure to `b`.
   */
  function traffic(
    run: FakeRun,
    seconds: number,
    isUp: (secondsIn: number) => boolean,
    failure: FailureClass = 'transient',
  ) {
    const served: string[] = [];
    let failures = 0;
    for (let tick = 0; tick < seconds * 10; tick++) {
      const isAsked = run.order()[0] === 'a';
      const isGood = isUp(tick / 10);
      if (isAsked) run.attempt('a', { failure: isGood ? null : failure });
      if (isAsked && !isGood) failures++;
      served.push(isAsked && isGood ? 'a' : 'b');
      run.pass(100);
    }
    return { served, failures };
  }

  test.each<FailureClass>(['transient', 'silent', 'model-unavailable', 'rate-limit', 'stream-broken'])(
    'a primary that was down for 60 s by %s is used again within 30 s and was asked a few times only',
    (failure) => {
      const run = fakeRun();
      const { served, failures } = traffic(run, 120, (second) => second < 10 || second >= 70, failure);
      const back = served.indexOf('a', 700);
      expect((back - 700) / 10).toBeLessThan(30);
      expect(served.slice(back)).not.toContain('b');
      expect(failures).toBeLessThanOrEqual(9);
    },
  );

  test('one that was down for an hour is too', () => {
    const run = fakeRun();
    const { served, failures } = traffic(run, 3_660, (second) => second >= 3_600);
    expect(served.indexOf('a')).toBeGreaterThanOrEqual(36_000);
    expect(served.indexOf('a')).toBeLessThan(36_300);
    expect(failures).toBeLessThan(3_600 / 20 + 10);
  });

  test('one that is up for a second and down for five is used less and less', () => {
    const run = fakeRun();
    const early = traffic(run, 60, (second) => second % 6 < 1);
    const late = traffic(run, 60, (second) => second % 6 < 1);
    expect(early.failures).toBeLessThan(30);
    expect(late.failures).toBeLessThan(early.failures);
    expect(late.failures).toBeLessThan(15);
  });

  test('one that degrades slowly is no longer used once half of its answers fail, and used again when it has recovered', () => {
    const run = fakeRun();
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const decaying = traffic(run, 120, (second) => random() > second / 120);
    expect(decaying.served.slice(0, 300)).toContain('a');
    const last = decaying.served.slice(-200).filter((provider) => provider === 'a').length;
    expect(last).toBeLessThan(30);
    const { served } = traffic(run, 60, () => true);
    expect(served.slice(300)).not.toContain('b');
  });
});
