import { describe, expect, test } from 'vitest';
import { HealthHints } from '../../../../server/team/health-hints/health-hints.ts';
import { type FakeRun, fakeRun } from '../../routing/health/harness.ts';

/** Two replicas with separate clocks. Messages wait until the test delivers them. */
function twoReplicas(options: { one?: Parameters<typeof fakeRun>[0]; other?: Parameters<typeof fakeRun>[0] } = {}) {
  let sharedMs = 1_700_000_000_000;
  const runs = [fakeRun(options.one), fakeRun(options.other)] as const;
  const [one, other] = runs;
  other.pass(123_456);
  const waiting: { from: FakeRun; text: string }[] = [];
  const texts: string[] = [];
  const hintsOf = (run: FakeRun) => {
    const hints = new HealthHints({
      book: run.book,
      provider: (id) => run.snapshot.providers.get(id),
      send(text) {
        texts.push(text);
        waiting.push({ from: run, text });
      },
      sharedMs: () => sharedMs,
    });
    run.book.share(hints);
    return hints;
  };
  const [ofOne, ofOther] = [hintsOf(one), hintsOf(other)];
  return {
    one,
    other,
    texts,
    ofOther,
    deliver() {
      for (const { from, text } of waiting.splice(0)) (from === one ? ofOther : ofOne).take(text);
    },
    pass(ms: number) {
      sharedMs += ms;
      for (const run of runs) run.pass(ms);
    },
  };
}

const cooldownMs = (run: FakeRun, id = 'a') => {
  const untilMs = run.book.untilMs(run.target(id));
  return untilMs === 0 ? 0 : untilMs - run.nowMs();
};

function breakDown(run: FakeRun, how: { isAnswer?: boolean } = {}): void {
  for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith: 503, ...how });
}

describe('what one replica learns from an upstream', () => {
  test.each([
    ['a limit, with a time', { failure: 'rate-limit', retryAfterMs: 30_000 } as const, 30_000],
    ['a limit, with a time that is too long', { failure: 'rate-limit', retryAfterMs: 3_600_000 } as const, 60_000],
    ['that it has no credit left', { failure: 'quota' } as const, 60_000],
    ['that it does not know the credential', { failure: 'credential' } as const, 60_000],
    ['that it does not have the model', { failure: 'model-unavailable' } as const, 5_000],
    ['that the credential may not use the model', { failure: 'model-unavailable', isDenied: true } as const, 5_000],
  ])('applies at others: %s', (_name, how, forMs) => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', how);
    deliver();
    expect([other.order(), cooldownMs(other)]).toEqual([['b', 'a'], forMs]);
    pass(forMs);
    expect(other.order()).toEqual(['a', 'b']);
  });

  test('applies as soon as it has failed there often enough to cool down', () => {
    const { one, other, deliver, texts } = twoReplicas();
    breakDown(one);
    deliver();
    expect([other.order(), cooldownMs(other)]).toEqual([['b', 'a'], 1_000]);
    expect(other.book.target(other.target('a')).circuit.failedWith).toBe(503);
    expect(texts).toHaveLength(1);
  });

  test.each(['rate-limit', 'credential', 'quota'] as const)(
    'is sent once if many requests fail together: %s',
    (failure) => {
      const { one, texts, pass } = twoReplicas();
      for (let count = 0; count < 100; count++) one.picker.began(one.target('a'), 'c1');
      for (let count = 0; count < 100; count++) {
        one.picker.report({
          ...{ target: one.target('a'), credentialId: 'c1', failure, isAnswer: true },
          ...{ firstByteMs: 10, retryAfterMs: failure === 'rate-limit' ? 20_000 : null },
        });
        pass(2);
      }
      expect(texts).toHaveLength(1);
    },
  );

  test('is over as soon as it answers one of them', () => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    deliver();
    pass(10_000);
    one.attempt('a');
    deliver();
    expect(other.order()).toEqual(['a', 'b']);
    expect(other.book.provider('a')?.hasTroubledCredential('m')).toBe(false);
  });

  test('is over once a person has reset it at one of them', () => {
    const { one, other, deliver } = twoReplicas();
    one.attempt('a', { failure: 'credential' });
    other.attempt('a', { failure: 'credential' });
    deliver();
    one.book.reset('a', 'c1');
    deliver();
    expect([one.order(), other.order()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('does not prevent a call if nothing else is left', () => {
    const { one, other, deliver } = twoReplicas();
    for (const id of ['a', 'b']) one.attempt(id, { failure: 'rate-limit', retryAfterMs: 10_000 });
    deliver();
    expect(other.order()).toEqual(['a', 'b']);
    expect(other.credentials('a')).toEqual(['c1']);
  });
});

describe('a problem that only one replica has', () => {
  test('is not sent: that it cannot reach an upstream, or gets no answer', () => {
    const { one, texts } = twoReplicas();
    breakDown(one, { isAnswer: false });
    one.attempt('b', { failure: 'silent', isAnswer: false });
    one.attempt('b', { failure: 'silent', isAnswer: false });
    expect(one.book.untilMs(one.target('a'))).toBeGreaterThan(0);
    expect(one.book.untilMs(one.target('b'))).toBeGreaterThan(0);
    expect(texts).toEqual([]);
  });

  test('keeps others from using it once, and no longer when it answers them', () => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 10_000 });
    deliver();
    expect(other.order()).toEqual(['b', 'a']);
    pass(10_000);
    other.attempt('a');
    for (let round = 0; round < 5; round++) {
      pass(10_000);
      one.attempt('a', { failure: 'rate-limit', retryAfterMs: 10_000 });
      deliver();
      expect(other.order()).toEqual(['a', 'b']);
    }
  });

  test('ends at once where a target answers others', () => {
    const { one, other, deliver } = twoReplicas();
    other.picker.began(other.target('a'), 'c1');
    breakDown(one);
    deliver();
    expect(other.order()).toEqual(['b', 'a']);
    other.picker.answers(other.target('a'), 'c1');
    expect(other.order()).toEqual(['a', 'b']);
  });

  test.each([
    ['another secret', { secretOf: (name: string) => `other ${name}` }],
    ['another address', { counts: { a: 1, b: 1 }, host: 'elsewhere.example' }],
  ])('is ignored with %s', (_name, options) => {
    const { one, other, deliver } = twoReplicas({ other: options });
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 10_000 });
    deliver();
    expect(other.order()).toEqual(['a', 'b']);
  });
});

describe('what a replica has seen itself', () => {
  test('has priority over hints: the length of a cooldown', () => {
    const { one, other, deliver } = twoReplicas();
    other.attempt('a', { failure: 'rate-limit', retryAfterMs: 5_000 });
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    deliver();
    expect(cooldownMs(other)).toBe(5_000);
    expect(cooldownMs(one)).toBe(30_000);
  });

  test('has priority over hints: that a target fails', () => {
    const { one, other, deliver } = twoReplicas();
    one.attempt('a', { failure: 'credential' });
    other.attempt('a', { failure: 'credential' });
    one.attempt('a');
    deliver();
    expect(other.order()).toEqual(['b', 'a']);
  });

  test('has priority over a hint that arrives late', () => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    pass(5_000);
    other.attempt('a');
    deliver();
    expect(other.order()).toEqual(['a', 'b']);
  });

  test('replaces the hints it received', () => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 1_000 });
    deliver();
    pass(1_000);
    other.attempt('a', { failure: 'rate-limit', retryAfterMs: 20_000 });
    one.attempt('a');
    deliver();
    expect(cooldownMs(other)).toBe(20_000);
  });
});

describe('a hint', () => {
  test('that arrives late applies for the rest of the time', () => {
    const { one, other, deliver, pass } = twoReplicas();
    one.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    pass(20_000);
    deliver();
    expect(cooldownMs(other)).toBe(10_000);
    pass(10_000);
    one.attempt('b', { failure: 'rate-limit', retryAfterMs: 5_000 });
    pass(5_000);
    deliver();
    expect(cooldownMs(other, 'b')).toBe(0);
  });

  test('contains no secret', () => {
    const secretOf = () => 'sk-a-secret-of-the-upstream';
    const { one, texts } = twoReplicas({ one: { secretOf } });
    one.attempt('a', { failure: 'credential' });
    expect(texts).toHaveLength(1);
    expect(texts.join()).not.toContain('sk-a-secret');
  });

  test.each([
    '',
    'nonsense',
    '{}',
    '{"kind":"of a later version","provider":"a"}',
    '{"kind":"cooling","provider":"a"}',
    JSON.stringify({ kind: 'reset', provider: 'x'.repeat(5_000) }),
  ])('that cannot be read changes nothing: %.40s', (text) => {
    const { other, ofOther } = twoReplicas();
    ofOther.take(text);
    expect(other.order()).toEqual(['a', 'b']);
    expect(other.told).toEqual([]);
  });

  test('about something that is not configured changes nothing', () => {
    const { one, other, deliver } = twoReplicas({ one: { counts: { a: 2, c: 1 } } });
    one.attempt('a', { failure: 'credential', credential: 'c2' });
    one.attempt('c', { failure: 'credential' });
    deliver();
    expect(other.told).toEqual([]);
    expect(other.book.provider('c')).toBeUndefined();
  });
});
