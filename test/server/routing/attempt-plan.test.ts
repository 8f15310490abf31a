import { describe, expect, test } from 'vitest';
import type { Failure } from '../../../server/apis/core/errors/verdict.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import { type Policy, policySchema } from '../../../server/contract/policy.ts';
import { AttemptPlan } from '../../../server/routing/attempt-plan.ts';
import { type FailedAttempt, moreUseful } from '../../../server/routing/attempt-result.ts';
import type { Picker } from '../../../server/routing/picker.ts';
import type { Target } from '../../../server/routing/snapshot.ts';
import { snapshotOf } from '../../support/providers.ts';
import { plainPicker } from '../../support/stand-ins.ts';

const { providers } = snapshotOf({
  providers: ['one', 'two', 'three'].map((id) => ({ id, baseUrl: `https://${id}.example/v1` })),
});
const targets: Target[] = [...providers.values()].map((provider, priority) => ({
  provider,
  model: 'm',
  priority,
  weight: 1,
}));
const silent = { class: 'silent', retryable: false, retryAfterMs: null } as const;
const patienceMs = 60_000;
const rejected = { class: 'rejected', retryable: false, retryAfterMs: null } as const;

function planOf(): AttemptPlan {
  const policy = policySchema.parse({});
  const request = {
    policy,
    capability: 'chat' as const,
    isPurchase: false,
    conversation: () => null,
    reasoningOrigin: () => null,
  };
  return new AttemptPlan({
    ...{ targets, policy, picker: plainPicker, request, credentialId: null },
    now: () => 0,
    random: () => 0,
  });
}

/** Whether another target was left at the beginning of each attempt, if every target is silent until its timeout. */
function othersLeft(given: Partial<Policy> = {}, more: Partial<Picker> = {}): boolean[] {
  let nowMs = 0;
  const policy = policySchema.parse(given);
  const picker = { ...plainPicker, ...more };
  const request = {
    policy,
    capability: 'chat' as const,
    isPurchase: false,
    conversation: () => null,
    reasoningOrigin: () => null,
  };
  const plan = new AttemptPlan({
    ...{ targets, policy, picker, request, credentialId: null },
    now: () => nowMs,
    random: () => 0,
  });
  const left: boolean[] = [];
  for (let next = plan.first(); next; next = plan.after(next, silent)) {
    left.push(plan.leavesAnother(patienceMs));
    nowMs += patienceMs;
  }
  return left;
}

describe('another target is left', () => {
  test('until the last one is asked', () => {
    expect(othersLeft({ budgetMs: 1_000_000 })).toEqual([true, true, false]);
  });

  test('to no attempt after which the time is up', () => {
    expect(othersLeft({ budgetMs: 120_000 })).toEqual([true, false]);
    expect(othersLeft({ budgetMs: 10_000 })).toEqual([true, false]);
  });

  test('to no attempt after which the fallbacks are used up', () => {
    expect(othersLeft({ fallbacks: 0 })).toEqual([false]);
    expect(othersLeft({ fallbacks: 1, budgetMs: 1_000_000 })).toEqual([true, false]);
  });

  test('only if it is in good health', () => {
    const isAvailable = ({ provider }: Target) => provider.id === 'one';
    expect(othersLeft({}, { isAvailable })[0]).toBe(false);
  });
});

describe('a request that is refused', () => {
  test('is not sent to another target if the request is at fault', () => {
    const plan = planOf();
    const first = plan.first();
    expect(first && plan.after(first, rejected)).toBeNull();
  });

  test('is sent to the next target if only this one cannot serve it', () => {
    const plan = planOf();
    const asked: string[] = [];
    for (let next = plan.first(); next; next = plan.after(next, { ...rejected, isOnlyHere: true }))
      asked.push(next.target.provider.id);
    expect(asked).toEqual(['one', 'two', 'three']);
  });

  test('reports that refusal only if no other target has failed temporarily', () => {
    const failed = (failure: Failure): FailedAttempt => ({
      kind: 'failed',
      failure,
      failureResponse: { kind: 'error', error: new GatewayError('invalid_value', failure.class) },
    });
    const here = failed({ ...rejected, isOnlyHere: true });
    const busy = failed({ class: 'rate-limit', retryable: true, retryAfterMs: 1_000 });
    expect([moreUseful(here, busy), moreUseful(busy, here)]).toEqual([busy, busy]);
    expect(moreUseful(failed(silent), here)).toBe(here);
  });
});
