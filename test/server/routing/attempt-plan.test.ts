import { describe, expect, test } from 'vitest';
import { type Policy, policySchema } from '../../../server/contract/policy.ts';
import { AttemptPlan } from '../../../server/routing/attempt-plan.ts';
import type { Picker } from '../../../server/routing/picker.ts';
import type { Target } from '../../../server/routing/snapshot.ts';
import { plainPicker } from '../../support/plain-picker.ts';
import { snapshotOf } from '../../support/providers.ts';

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

/** Whether another was left at the beginning of each attempt, where all are silent for as long as they may. */
function othersLeft(given: Partial<Policy> = {}, more: Partial<Picker> = {}): boolean[] {
  let nowMs = 0;
  const policy = policySchema.parse(given);
  const picker = { ...plainPicker, ...more };
  const request = { policy, capability: 'chat' as const, conversation: () => null };
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
    const mayBeAsked = ({ provider }: Target) => provider.id === 'one';
    expect(othersLeft({}, { mayBeAsked })[0]).toBe(false);
  });
});
