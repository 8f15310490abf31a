import { expect, it } from 'vitest';
import { phases, strategyOrder, usualPolicy } from '../../../../renderer/views/groups/policy-draft.ts';
import { policySchema, timeoutsSchema } from '../../../../server/contract/policy.ts';

it('what the window takes for usual is what the configuration does', () => {
  expect(policySchema.parse({})).toMatchObject(usualPolicy);
  expect(strategyOrder.toSorted()).toEqual(policySchema.shape.strategy.unwrap().options.toSorted());
  expect([...phases]).toEqual(Object.keys(timeoutsSchema.shape));
});
