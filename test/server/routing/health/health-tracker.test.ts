import { describe, expect, test } from 'vitest';
import { HealthTracker } from '../../../../server/routing/health/health-tracker.ts';
import { snapshotOf } from '../../../support/providers.ts';
import { type FakeRun, fakeRun, providersWith } from './harness.ts';

function breakDown(run: FakeRun, id: string): void {
  for (let count = 0; count < 3; count++) run.attempt(id, { failure: 'transient' });
}

describe('if every target is in cooldown', () => {
  test('the one whose cooldown ends first is called first', () => {
    const run = fakeRun({ counts: { a: 1, b: 1, c: 1 } });
    run.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    run.attempt('b', { failure: 'rate-limit', retryAfterMs: 10_000 });
    run.attempt('c', { failure: 'rate-limit', retryAfterMs: 20_000 });
    expect(run.order()).toEqual(['b', 'c', 'a']);
    expect(run.credentials('b')).toEqual(['c1']);
  });

  test('one that answers nevertheless is healthy again', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'quota' });
    run.attempt('b', { failure: 'quota' });
    run.attempt('a');
    expect(run.order()).toEqual(['a', 'b']);
  });

  test('those whose credentials were refused come last of all', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'credential' });
    run.attempt('b', { failure: 'quota' });
    expect(run.order()).toEqual(['b', 'a']);
    expect(run.credentials('a')).toEqual([]);
  });
});

describe('a credential', () => {
  test('that is limited is limited for that model only, and others of the provider are used', () => {
    const run = fakeRun({ counts: { a: 2, b: 1 } });
    run.attempt('a', { failure: 'rate-limit', credential: 'c1' });
    expect(run.credentials('a')).toEqual(['c2']);
    expect(run.order()).toEqual(['a', 'b']);
    expect(run.book.isAvailable({ ...run.target('a'), model: 'other' }, run.nowMs())).toBe(true);
    expect(run.book.provider('a')?.isAvailable('other', 'c1', run.nowMs())).toBe(true);
  });

  test('without quota is not used for any model', () => {
    const run = fakeRun({ counts: { a: 2, b: 1 } });
    run.attempt('a', { failure: 'quota', credential: 'c1' });
    expect(run.book.provider('a')?.isAvailable('other', 'c1', run.nowMs())).toBe(false);
    run.pass(600_000);
    expect(run.credentials('a')).toEqual(['c1', 'c2']);
  });

  test('that is to be tried is tried by one request', () => {
    const run = fakeRun({ counts: { a: 2 } });
    run.attempt('a', { failure: 'rate-limit', credential: 'c1' });
    run.pass(1_000);
    expect(run.credentials('a')).toEqual(['c1', 'c2']);
    run.book.began(run.target('a'), 'c1');
    expect(run.credentials('a')).toEqual(['c2']);
  });

  test('is forgotten once its problem has ended', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'quota' });
    run.attempt('a', { failure: 'rate-limit' });
    for (let count = 0; count < 4; count++) {
      run.pass(3_600_000);
      run.attempt('a');
    }
    expect(run.book.provider('a')?.hasTroubledCredential('m')).toBe(false);
  });

  test('that is refused although none is configured stops calls to the provider', () => {
    const run = fakeRun({ counts: { a: 0, b: 1 } });
    expect(run.credentials('a')).toEqual(['none']);
    run.attempt('a', { failure: 'credential' });
    expect(run.credentials('a')).toEqual([]);
    expect(run.order()).toEqual(['b', 'a']);
  });
});

describe('after a change of the configuration', () => {
  test('unaffected state is kept', () => {
    const run = fakeRun({ counts: { a: 1, b: 1 } });
    breakDown(run, 'a');
    run.attempt('b', { failure: 'credential' });
    run.book.follow(providersWith({ a: 1, b: 1, c: 1 }));
    expect(run.book.isAvailable(run.target('a'), run.nowMs())).toBe(false);
    expect(run.credentials('b')).toEqual([]);
  });

  test('a credential with another secret starts afresh, and the others do not', () => {
    const run = fakeRun({ counts: { a: 2 } });
    run.attempt('a', { failure: 'credential', credential: 'c1' });
    run.attempt('a', { failure: 'credential', credential: 'c2' });
    run.book.follow(providersWith({ a: 2 }, (name) => (name.endsWith('c1') ? 'a new one' : name)));
    expect(run.credentials('a')).toEqual(['c1']);
  });

  test('a credential that signs requests starts afresh with another secret, and only then', () => {
    const book = new HealthTracker({ nowMs: () => 1 });
    const signedWith = (secret: string) =>
      snapshotOf(
        { providers: [{ id: 'a', dialect: 'bedrock', baseUrl: 'https://a.example', credentials: [{ id: 'c1' }] }] },
        { secrets: { 'provider/a/c1': `ASIAIOSFODNN7EXAMPLE:secret:${secret}` } },
      );
    const provider = signedWith('old').providers.get('a') ?? expect.unreachable();
    const report = { credentialId: 'c1', isAnswer: true, firstByteMs: 1, retryAfterMs: null };
    book.follow(signedWith('old'));
    book.report({ ...report, failure: 'credential', target: { provider, model: 'm', priority: 0, weight: 1 } });
    book.follow(signedWith('old'));
    expect(book.provider('a')?.isRefused('c1')).toBe(true);
    book.follow(signedWith('new'));
    expect(book.provider('a')?.isRefused('c1')).toBe(false);
  });

  test('a credential added to a provider without any is used, though it was refused without', () => {
    const run = fakeRun({ counts: { a: 0 } });
    run.attempt('a', { failure: 'credential' });
    run.book.follow(providersWith({ a: 1 }));
    expect(run.book.provider('a')?.isRefused('')).toBe(false);
  });

  test('removed entries are forgotten, even if one of their requests ends later', () => {
    const run = fakeRun();
    breakDown(run, 'a');
    run.book.follow(providersWith({ b: 1 }));
    expect(run.book.provider('a')).toBeUndefined();
    run.attempt('a', { failure: 'transient' });
    run.book.follow(providersWith({ b: 1 }));
    expect(run.book.provider('a')).toBeUndefined();
  });
});

test('a reset of a provider, or of one credential, makes it start afresh', () => {
  const run = fakeRun();
  breakDown(run, 'a');
  run.attempt('b', { failure: 'credential' });
  run.book.reset('a');
  run.book.reset('b', 'c1');
  expect(run.order()).toEqual(['a', 'b']);
  expect(run.credentials('b')).toEqual(['c1']);
});

test('a change of network resets targets, but not refused credentials', () => {
  const run = fakeRun();
  breakDown(run, 'a');
  run.attempt('b', { failure: 'credential' });
  run.book.networkChanged();
  expect(run.order()[0]).toBe('a');
  expect(run.credentials('b')).toEqual([]);
});

test('model names that clients invent do not fill the memory, and do not displace one with a problem', () => {
  const run = fakeRun();
  breakDown(run, 'a');
  for (let count = 0; count < 10_000; count++) {
    run.book.report({
      target: { ...run.target('a'), model: `invented-${count}` },
      ...{ credentialId: 'c1', failure: null, isAnswer: false, firstByteMs: 1, retryAfterMs: null },
    });
  }
  expect(run.book.provider('a')?.targets.size).toBeLessThanOrEqual(200);
  expect(run.order()).toEqual(['b', 'a']);
});

test('listeners hear of each attempt, and whether more than a measurement changed', () => {
  const run = fakeRun();
  run.attempt('a');
  run.attempt('a', { failure: 'transient' });
  run.attempt('a', { failure: 'rejected' });
  run.attempt('a');
  expect(run.told.map(({ isState }) => isState)).toEqual([false, true, true]);
});

describe('the timeout for a target on trial', () => {
  const patienceMs = (run: FakeRun) => run.picker.trialPatienceMs(run.target('a'));
  function fallSilent(run: FakeRun): void {
    run.attempt('a', { failure: 'silent' });
    run.attempt('a', { failure: 'silent' });
  }

  test('is the usual one while the target is healthy, and once it has recovered', () => {
    const run = fakeRun();
    expect(patienceMs(run)).toBe(0);
    run.attempt('a', { failure: 'silent' });
    expect(patienceMs(run)).toBe(0);
    fallSilent(run);
    run.pass(20_000);
    run.attempt('a');
    expect(patienceMs(run)).toBe(0);
  });

  test('is twice its usual time, and a second at least', () => {
    const run = fakeRun();
    run.attempt('a', { firstByteMs: 4_000 });
    fallSilent(run);
    expect(patienceMs(run)).toBe(8_000);
    const fast = fakeRun();
    fast.attempt('a', { firstByteMs: 50 });
    fallSilent(fast);
    expect(patienceMs(fast)).toBe(1_000);
  });

  test('is the usual one after another failure, which is reported soon', () => {
    const run = fakeRun();
    breakDown(run, 'a');
    expect(patienceMs(run)).toBe(0);
    const silent = fakeRun();
    fallSilent(silent);
    expect(patienceMs(silent)).toBe(2_000);
  });
});
