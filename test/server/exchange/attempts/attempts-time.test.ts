import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Policy, policySchema } from '../../../../server/contract/policy.ts';
import { runAttempts } from '../../../../server/exchange/attempts/attempts.ts';
import { AttemptPlan } from '../../../../server/routing/attempt-plan.ts';
import type { AttemptResult } from '../../../../server/routing/attempt-result.ts';
import type { Picker } from '../../../../server/routing/picker.ts';
import { attemptRecord, plainPicker } from '../../../support/stand-ins.ts';
import { limited, run, silent, targets, transient, withOneCredential } from './scripted-attempts.ts';

describe('the wait before a retry', () => {
  test('is a random part of a time that doubles', async () => {
    const { waits } = await run([transient], { policy: { retries: 6, fallbacks: 0 } });
    expect(waits).toEqual([125, 250, 500, 1_000, 2_000, 2_000]);
  });

  test('is what the upstream asked for where that is short, though there are others', async () => {
    const [one, two] = targets.map(withOneCredential);
    const both = [one, two].filter((target) => target !== undefined);
    expect(await run([limited(1_500), 'answers'], { targets: both })).toMatchObject({
      log: ['one/c1 first', 'one/c1 retry'],
      waits: [1_500],
    });
    expect(await run([limited(2_500), 'answers'], { targets: both })).toMatchObject({
      log: ['one/c1 first', 'two/c1 fallback'],
      waits: [],
    });
  });

  test('is up to ten seconds if no other target is left, and none if that is not enough', async () => {
    const policy = { retries: 2, fallbacks: 0 };
    const only = { policy, credentialId: 'c1' };
    expect(await run([limited(8_000), 'answers'], only)).toMatchObject({
      waits: [8_000],
      outcome: { kind: 'answered' },
    });
    expect(await run([limited(60_000)], only)).toMatchObject({ waits: [], log: ['one/c1 first'] });
  });

  test('is never longer than the time that is left', async () => {
    const policy = { retries: 2, fallbacks: 0, budgetMs: 5_000 };
    expect(await run([limited(8_000)], { policy, credentialId: 'c1' })).toMatchObject({ waits: [] });
    const { log } = await run([transient], { policy: { budgetMs: 5_000, retries: 20 }, takesMs: 2_000 });
    expect(log).toHaveLength(3);
  });
});

describe('the time budget', () => {
  const budgetMs = 120_000;

  test('does not keep a request from its first fallback, however long the first target was silent', async () => {
    const { log } = await run([silent, 'answers'], { policy: { budgetMs }, takesMs: 600_000 });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('ends retries and further fallbacks', async () => {
    for (const failure of [silent, transient]) {
      const { log } = await run([failure], { policy: { budgetMs }, takesMs: 600_000 });
      expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
    }
  });

  test('restarts if an answer breaks off that was received for longer', async () => {
    const { log } = await run(['breaks', 'answers'], { policy: { budgetMs, fallbacks: 0 }, takesMs: 600_000 });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue']);
  });

  test('is no longer for the rest of an answer than for a whole one', async () => {
    const policy = { budgetMs, fallbacks: 0, retries: 10 };
    const { log } = await run(['breaks', transient], { policy, takesMs: 50_000 });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue', 'one/c1 rescue', 'one/c1 rescue']);
  });
});

describe('a target that is on trial because it was silent', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /**
   * The first target is silent until `answersAfterMs`, and the second answers at once. The first to answer ends the
   * other.
   */
  function onTrial(policy: Partial<Policy> = {}, answersAfterMs = 60_000, leavesAfterMs = 60_000) {
    const log: string[] = [];
    const reports: [string, string | null][] = [];
    const picker: Picker = {
      ...plainPicker,
      trialPatienceMs: ({ provider }) => (provider.id === 'one' ? 1_000 : 0),
      report: ({ target, failure }) => reports.push([target.provider.id, failure]),
    };
    const whole = policySchema.parse(policy);
    const plan = new AttemptPlan({
      ...{ targets, policy: whole, picker, credentialId: null, now: () => 0, random: () => 0.5 },
      request: {
        policy: whole,
        capability: 'chat',
        isPurchase: false,
        conversation: () => null,
        reasoningOrigin: () => null,
      },
    });
    const first = Promise.withResolvers<AttemptResult>();
    const outcome = runAttempts({
      plan,
      picker,
      gone: () => new Promise(() => {}),
      start: ({ target, cause }) => {
        log.push(`${target.provider.id} ${cause}`);
        const record = attemptRecord({ failure: null });
        if (target.provider.id !== 'one') {
          first.resolve({ kind: 'given-up' });
          return { record, hasBegun: () => false, result: Promise.resolve({ kind: 'answered', failure: null }) };
        }
        setTimeout(() => first.resolve({ kind: 'answered', failure: null }), answersAfterMs);
        setTimeout(() => {
          record.failure = 'client-gone';
          first.resolve({ kind: 'given-up' });
        }, leavesAfterMs);
        return { record, hasBegun: () => false, result: first.promise };
      },
    });
    return { log, reports, outcome };
  }

  test('has another called beside it after a while, and counts as silent again if that one answers first', async () => {
    const { log, reports, outcome } = onTrial();
    await vi.advanceTimersByTimeAsync(999);
    expect(log).toEqual(['one first']);
    await vi.advanceTimersByTimeAsync(1);
    expect(log).toEqual(['one first', 'two hedge']);
    expect(await outcome).toEqual({ kind: 'answered' });
    expect(reports.toSorted()).toEqual([
      ['one', 'silent'],
      ['two', null],
    ]);
  });

  test('is the only one called if it answers in that time', async () => {
    const { log, reports, outcome } = onTrial({}, 900);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([log, reports, await outcome]).toEqual([['one first'], [['one', null]], { kind: 'answered' }]);
  });

  test('is not blamed if the client disconnects', async () => {
    const { log, reports } = onTrial({}, 60_000, 500);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([log, reports]).toEqual([['one first'], [['one', 'client-gone']]]);
  });

  test('uses one of the fallbacks for the other', async () => {
    const { log } = onTrial({ fallbacks: 0 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(log).toEqual(['one first']);
  });

  test('is hedged sooner where the group does so', async () => {
    const { log } = onTrial({ hedgeAfterMs: 200 });
    await vi.advanceTimersByTimeAsync(200);
    expect(log).toEqual(['one first', 'two hedge']);
  });
});
