import { expect, it } from 'vitest';
import {
  changesOf,
  phases,
  strategyOrder,
  usualPolicy,
} from '../../../../../renderer/views/groups/fields/policy-draft.ts';
import { policySchema, timeoutsSchema } from '../../../../../server/contract/policy.ts';

it('what the window takes for usual is what the configuration does', () => {
  expect(policySchema.parse({})).toMatchObject(usualPolicy);
  expect(strategyOrder.toSorted()).toEqual(policySchema.shape.strategy.unwrap().options.toSorted());
  expect([...phases]).toEqual(Object.keys(timeoutsSchema.shape));
});

it('counts what differs from the usual policy, each timeout by itself', () => {
  expect(changesOf(policySchema.parse({}))).toEqual({ total: 0, further: 0 });
  const changed = { retries: 1, losses: 'refuse', timeouts: { idleMs: 1, totalMs: 2 } };
  expect(changesOf(policySchema.parse(changed))).toEqual({ total: 4, further: 3 });
});
