import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawFor } from '../../../../server/routing/health/health-picker.ts';
import { fakeRun, type Strategy } from './harness.ts';

const conversations = Array.from({ length: 400 }, (_, index) => `conversation ${index}`);

describe('the strategy', () => {
  test('priority asks as ordered, with the first credential', () => {
    const run = fakeRun({ counts: { a: 2, b: 1 } });
    expect(run.order('priority')).toEqual(['a', 'b']);
    expect([1, 2, 3].map(() => run.credentials('a', 'priority'))).toEqual(Array(3).fill(['c1', 'c2']));
  });

  test.each<Strategy>(['priority', 'weighted', 'round-robin', 'lowest-latency', 'lowest-price', 'sticky'])(
    '%s asks a provider that merely takes any name last',
    (strategy) => {
      // All other criteria would put it first.
      const run = fakeRun({ prices: { a: 0.1, b: 9 }, place: { takesAnyName: true } });
      Object.assign(run.target('a'), { weight: 1_000 });
      delete run.target('b').takesAnyName;
      run.attempt('a', { firstByteMs: 1 });
      run.attempt('b', { firstByteMs: 9_000 });
      for (let count = 0; count < 50; count++) expect(run.order(strategy, `c${count}`)).toEqual(['b', 'a']);
    },
  );

  test('weighted draws whatever the priority', () => {
    const run = fakeRun();
    const first = new Set(conversations.map(() => run.order('weighted')[0]));
    expect(first).toEqual(new Set(['a', 'b']));
  });

  test('round-robin uses the credentials in turn, and leaves out one in cooldown', () => {
    const run = fakeRun({ counts: { a: 3 } });
    const turns = () =>
      [1, 2, 3, 4].map(() => {
        const [first = '', ...others] = run.credentials('a', 'round-robin');
        expect(run.credentials('a', 'round-robin')).toEqual([first, ...others]);
        run.attempt('a', { credential: first });
        return first;
      });
    expect(turns()).toEqual(['c1', 'c2', 'c3', 'c1']);
    run.attempt('a', { failure: 'rate-limit', credential: 'c2' });
    expect(new Set(turns())).toEqual(new Set(['c1', 'c3']));
  });

  test('lowest-latency calls the recently fastest first', () => {
    const run = fakeRun({ counts: { a: 1, b: 1, c: 1 } });
    for (const [id, firstByteMs] of Object.entries({ a: 300, b: 50, c: 100 })) run.attempt(id, { firstByteMs });
    expect(run.order('lowest-latency')).toEqual(['b', 'c', 'a']);
    for (let count = 0; count < 20; count++) run.attempt('b', { firstByteMs: 900 });
    expect(run.order('lowest-latency')).toEqual(['c', 'a', 'b']);
  });

  test('lowest-latency measures an unknown target, without flooding it before it has answered', () => {
    const run = fakeRun();
    run.attempt('a', { firstByteMs: 50 });
    expect([1, 2, 3].map(() => run.order('lowest-latency')[0])).toEqual(['b', 'a', 'a']);
    run.pass(10_000);
    expect(run.order('lowest-latency')[0]).toBe('b');
  });

  test('lowest-latency notices that a target which was slow at first is fast now', () => {
    const run = fakeRun();
    run.attempt('a', { firstByteMs: 200 });
    run.attempt('b', { firstByteMs: 10_000 });
    const asked = { a: 0, b: 0 };
    for (let second = 0; second < 600; second++) {
      const first = run.order('lowest-latency')[0] === 'a' ? 'a' : 'b';
      asked[first]++;
      run.attempt(first, { firstByteMs: first === 'a' ? 200 : 20 });
      run.pass(1_000);
    }
    expect(asked.b).toBeGreaterThan(300);
    expect(run.order('lowest-latency')[0]).toBe('b');
  });

  test('lowest-latency spends one request in sixty on a target that stays slow', () => {
    const run = fakeRun();
    let slow = 0;
    for (let second = 0; second < 600; second++) {
      const first = run.order('lowest-latency')[0] === 'a' ? 'a' : 'b';
      if (first === 'b') slow++;
      run.attempt(first, { firstByteMs: first === 'a' ? 200 : 5_000 });
      run.pass(1_000);
    }
    expect(slow).toBeGreaterThan(5);
    expect(slow).toBeLessThan(15);
  });

  test('lowest-price asks the cheapest first and those of unknown price last', () => {
    const run = fakeRun({ counts: { a: 1, b: 1, c: 1, d: 1 }, prices: { b: 2, c: 0.5, d: 2 } });
    expect(run.order('lowest-price')).toEqual(['c', 'b', 'd', 'a']);
  });

  test('sticky sends a conversation to the same target with the same credential, and uses all of them', () => {
    const run = fakeRun({ counts: { a: 2, b: 2 }, place: { priority: 0 } });
    const choices = conversations.map((conversation) => {
      const [first = ''] = run.order('sticky', conversation);
      const choice = `${first}/${run.credentials(first, 'sticky', conversation)[0]}`;
      const [again = ''] = run.order('sticky', conversation);
      expect(`${again}/${run.credentials(again, 'sticky', conversation)[0]}`).toBe(choice);
      return choice;
    });
    for (const choice of ['a/c1', 'a/c2', 'b/c1', 'b/c2']) {
      expect(choices.filter((each) => each === choice).length).toBeGreaterThan(60);
    }
  });

  test('sticky heeds weights', () => {
    const run = fakeRun({ place: { priority: 0 } });
    const [a, b] = run.targets;
    if (a) a.weight = 3;
    if (b) b.weight = 1;
    const ofA = conversations.filter((conversation) => run.order('sticky', conversation)[0] === 'a').length;
    expect(ofA / conversations.length).toBeGreaterThan(0.68);
    expect(ofA / conversations.length).toBeLessThan(0.82);
  });

  test('sticky moves only the conversations of a failing target, and returns them later', () => {
    const run = fakeRun({ counts: { a: 1, b: 1, c: 1 }, place: { priority: 0 } });
    const choices = () => conversations.map((conversation) => run.order('sticky', conversation)[0]);
    const before = choices();
    run.attempt('b', { failure: 'model-unavailable' });
    const during = choices();
    before.forEach((choice, index) => {
      if (choice === 'b') expect(during[index]).not.toBe('b');
      else expect(during[index]).toBe(choice);
    });
    run.pass(5_000);
    run.attempt('b');
    expect(choices()).toEqual(before);
  });

  test('sticky without a conversation goes by priority', () => {
    expect(fakeRun().order('sticky', null)).toEqual(['a', 'b']);
  });
});

describe('drawFor', () => {
  test('draws evenly between 0 and 1', () => {
    const draws = conversations.map((conversation) => drawFor(conversation, 'a/m'));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
    expect(Math.max(...draws)).toBeLessThan(1);
  });
});

describe('a picker', () => {
  const failures = [
    ...(['transient', 'silent', 'rate-limit', 'quota', 'credential', 'model-unavailable', 'too-large'] as const),
    ...(['rejected', 'stream-broken', 'client-gone', null] as const),
  ];
  const strategyNames: Strategy[] = ['priority', 'weighted', 'round-robin', 'lowest-latency', 'lowest-price', 'sticky'];
  const steps = fc.array(
    fc.record({
      provider: fc.constantFrom('a', 'b', 'c'),
      credential: fc.constantFrom('c1', 'c2'),
      failure: fc.constantFrom(...failures),
      retryAfterMs: fc.option(fc.nat(100_000), { nil: undefined }),
      passMs: fc.nat(30_000),
      strategy: fc.constantFrom(...strategyNames),
      conversation: fc.option(fc.string()),
    }),
    { maxLength: 60 },
  );

  test('orders all targets, each once, whatever happened, and names credentials of theirs only, each once', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const run = fakeRun({ counts: { a: 2, b: 2, c: 2 }, prices: { b: 1 } });
        for (const { provider, credential, failure, retryAfterMs, passMs, strategy, conversation } of script) {
          expect(run.order(strategy, conversation).toSorted()).toEqual(['a', 'b', 'c']);
          const credentials = run.credentials(provider, strategy, conversation);
          expect(new Set(credentials).size).toBe(credentials.length);
          expect(['c1', 'c2']).toEqual(expect.arrayContaining(credentials));
          run.attempt(provider, { credential, failure, ...(retryAfterMs !== undefined && { retryAfterMs }) });
          run.pass(passMs);
        }
      }),
    );
  });

  test('never asks a refused credential, and always some other where there is one', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const run = fakeRun({ counts: { a: 2, b: 2, c: 2 } });
        const refused = new Set<string>();
        for (const { provider, credential, failure, passMs, strategy } of script) {
          const credentials = run.credentials(provider, strategy);
          for (const each of credentials) expect(refused).not.toContain(`${provider}/${each}`);
          const left = ['c1', 'c2'].filter((each) => !refused.has(`${provider}/${each}`));
          expect(credentials.length > 0).toBe(left.length > 0);
          if (!credentials.includes(credential)) continue;
          run.attempt(provider, { credential, failure });
          if (failure === 'credential') refused.add(`${provider}/${credential}`);
          run.pass(passMs);
        }
      }),
    );
  });
});
