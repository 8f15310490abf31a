import { describe, expect, test } from 'vitest';
import { explainOrder } from '../../../../server/routing/explain/explain-route.ts';
import { type FakeRun, fakeRun, type Strategy } from '../health/harness.ts';

const wallMs = Date.parse('2026-11-20T12:00:00Z');

function explain(run: FakeRun, strategy: Strategy = 'priority', prices: Record<string, number> = {}) {
  return explainOrder(run.targets, {
    ...{ health: run.book, strategy, wallMs },
    typicalPrice: ({ provider }) => prices[provider.id] ?? null,
  });
}

const places = (...[run, ...how]: Parameters<typeof explain>) =>
  explain(run, ...how).map(({ target, place }) => [target.provider.id, place]);

describe('an explained order', () => {
  test('has no reasons for healthy targets ordered by priority', () => {
    expect(places(fakeRun())).toEqual([
      ['a', null],
      ['b', null],
    ]);
  });

  test('puts a cooling target last and says for how long and why, then that it is tried', () => {
    const run = fakeRun();
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith: 500 });
    const why = 'it answers with errors (500)';
    expect(places(run)).toEqual([
      ['b', null],
      ['a', `not asked for 1 s, unless nothing else is left: ${why}`],
    ]);
    expect(explain(run)[1]?.health).toEqual({
      ...{ state: 'cooling', failure: 'transient', failedWith: 500, reason: why, until: wallMs + 1_000 },
      ...{ failures: 3, failedAt: wallMs },
    });
    run.pass(1_000);
    expect(places(run)).toEqual([
      ['a', `tried by the next request: ${why}`],
      ['b', null],
    ]);
  });

  test('says that a target which told when to come again is not asked before', () => {
    const run = fakeRun();
    run.attempt('a', { failure: 'rate-limit', retryAfterMs: 30_000 });
    const [, last] = places(run);
    expect(last).toEqual(['a', expect.stringMatching(/^not asked for 30 s, even if nothing else is left: /)]);
    run.pass(31_000);
    expect(places(run)[0]).toEqual(['a', expect.stringMatching(/^tried by the next request: /)]);
  });

  test('names the credentials in cooldown, and the target itself only if none is left', () => {
    const run = fakeRun({ counts: { a: 2, b: 1 } });
    run.attempt('a', { failure: 'credential', credential: 'c2' });
    const [first] = explain(run);
    expect(first).toMatchObject({
      place: null,
      health: { state: 'ok' },
      credentials: [{ id: 'c2', state: 'refused' }],
    });
    run.attempt('a', { failure: 'credential', credential: 'c1' });
    expect(places(run)[1]).toEqual([
      'a',
      expect.stringMatching(/^one request in 5 minutes tries it, .*: it rejected the API key/),
    ]);
  });

  test('includes the measurement or price by which the strategy decides', () => {
    const run = fakeRun();
    run.attempt('b', { firstByteMs: 123.4 });
    expect(places(run, 'lowest-latency')).toEqual([
      ['a', 'not measured yet'],
      ['b', 'first byte after 123 ms recently'],
    ]);
    expect(places(run, 'lowest-price', { b: 0.0123 })).toEqual([
      ['b', 'about $0.012 for a typical request'],
      ['a', 'it has no price'],
    ]);
  });

  test('agrees with a real request, and changes nothing', () => {
    const run = fakeRun({ counts: { a: 1, b: 1, c: 1 } });
    run.attempt('a', { failure: 'rate-limit', retryAfterMs: 5_000 });
    run.attempt('b', { failure: 'quota' });
    const explained = () => explain(run).map(({ target }) => target.provider.id);
    run.pass(5_000);
    expect(explained()).toEqual(explained());
    expect(explained()).toEqual(run.order());
  });
});
