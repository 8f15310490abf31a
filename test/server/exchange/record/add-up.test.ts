import { expect, test } from 'vitest';
import { addUp } from '../../../../server/exchange/record/accounting.ts';
import type { Accounting } from '../../../../server/exchange/record/exchange-trace.ts';

const part = (usageCertainty: Accounting['usageCertainty'], costUsd: number | null, tokens?: number): Accounting => ({
  usage: tokens === undefined ? null : { inputTokens: tokens, outputTokens: 1 },
  usageCertainty,
  costUsd,
});
const failed = part('none', 0);

test('a request without attempts costs nothing, and one with a single attempt costs what that costs', () => {
  expect(addUp([])).toEqual({ usage: null, usageCertainty: 'none', costUsd: 0 });
  const only = part('reported', 0.25, 7);
  expect(addUp([only])).toEqual(only);
});

test('attempts are added up, quantity by quantity', () => {
  const seconds: Accounting = { usage: { inputTokens: 1, seconds: 2.5 }, usageCertainty: 'reported', costUsd: 1 };
  expect(addUp([failed, part('reported', 0.25, 7), seconds])).toEqual({
    usage: { inputTokens: 8, outputTokens: 1, seconds: 2.5 },
    usageCertainty: 'reported',
    costUsd: 1.25,
  });
});

test.each<[string, Accounting[], Accounting['usageCertainty'], number | null]>([
  ['failed ones do not count', [failed, part('reported', 1, 1)], 'reported', 1],
  ['a reserved part makes it reserved', [part('reserved', 1, 1), part('estimated', 1, 1)], 'reserved', 2],
  ['an estimate makes an estimate', [part('estimated', 1, 1), part('reported', 1, 1)], 'estimated', 2],
  ['a part makes a part', [part('partial', 1, 1), part('reported', 1, 1)], 'partial', 2],
  ['what may have cost something unknown makes a part', [part('none', null), part('reported', 1, 1)], 'partial', 1],
  ['an unknown price leaves what is known', [part('reported', null, 1), part('reported', 3, 1)], 'reported', 3],
  ['nothing known', [part('none', null), failed], 'none', null],
])('%s', (_, parts, usageCertainty, costUsd) => {
  expect(addUp(parts)).toMatchObject({ usageCertainty, costUsd });
});
