/**
 * A single target fails once or twice and then answers, without the caller noticing; but what may have been made and paid for is
 * not asked for again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { healthy, isWhole, type Play, refusesBeforeWork } from '../../support/fault-upstream.ts';
import { calls, isPurchase } from '../../support/openai-calls.ts';
import { CellRun } from './cells.ts';

const passing: readonly Play[] = [
  plays.resetBeforeHeaders,
  plays.resetAfterHeaders,
  plays.hangUp,
  plays.status(408),
  plays.status(500),
  plays.status(502),
  plays.status(503),
  plays.status(529),
  plays.rateLimit({ 'retry-after-ms': '50' }, '429, retry-after-ms: 50'),
];

const cells = passing.flatMap((fault) =>
  calls.flatMap((call) => [
    { call, name: fault.name, failures: 1, primary: [fault, healthy] as const },
    { call, name: fault.name, failures: 2, primary: [fault, fault, healthy] as const },
  ]),
);
const numbered = cells.map((cell, index) => ({ ...cell, index }));

let run: CellRun;
beforeAll(async () => {
  run = await CellRun.start(numbered);
});
afterAll(() => run.stop());

describe.each(passing)('$name', ({ name }) => {
  const ofFault = numbered.filter((cell) => cell.name === name);
  const table = ofFault.map((cell) => [cell.call.name, cell.failures, cell] as const);
  test.each(table)('%s answers after %i', async (_name, failures, cell) => {
    const observed = await run.observed(cell.index);
    const where = `${observed.status} ${observed.body.toString('latin1', 0, 300)}`;
    if (isPurchase(cell.call) && !refusesBeforeWork(name)) {
      expect(JSON.parse(observed.body.toString()), where).toMatchObject({
        error: { code: 'purchase_outcome_unknown' },
      });
      expect(observed.primary.map(({ played }) => played)).toEqual([name]);
      expect(observed.row.outcome).toBe('error');
      return;
    }
    expect(isWhole(cell.call, observed), where).toBe(true);
    expect(observed.primary.map(({ played }) => played)).toEqual([...Array(failures).fill(name), 'healthy']);
    expect(observed.row.outcome).toBe('ok');
  });
});
