import { expect, test } from 'vitest';
import { limitCells } from '../../../server/cli/limit-option.ts';

test('a budget in money reports for how many requests the cost is unknown', () => {
  const budget = { unit: 'usd', amount: 5, per: 'total', hard: true } as const;
  const meter = { kind: 'budget', budget, amount: 5, used: 0.25, resetsAt: null } as const;
  expect(limitCells({ ...meter, unpriced: 2 })[1]).toBe('$0.2500 and 2 of unknown cost');
  expect(limitCells({ ...meter, unpriced: 0 })[1]).toBe('$0.2500');
});
