/**
 * No target gives an answer: the caller gets the most informative error in limited time, and no target is overloaded
 * with calls.
 *
 * @suite long
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusesBeforeWork } from '../../support/fault-upstream.ts';
import { isPurchase } from '../../support/openai-calls.ts';
import { bothCases } from './both-cases.ts';
import { CellRun, policy, refuses } from './cells.ts';
import { expectErrorShape } from './expect-error-shape.ts';
import { callNamed } from './pair.ts';

const askedCalls = [
  'chat/completions',
  'chat/completions (stream)',
  'responses (stream)',
  'embeddings',
  'images/edits',
  'audio/transcriptions (stream)',
].map(callNamed);
const cells = bothCases.flatMap((both) => askedCalls.map((call) => ({ ...both, call })));
const numbered = cells.map((cell, index) => ({ ...cell, index }));
const mostAttempts = 1 + policy.retries + policy.fallbacks;

let run: CellRun;
beforeAll(async () => {
  run = await CellRun.start(numbered);
});
afterAll(() => run.stop());

describe.each(bothCases)('$name', ({ name }) => {
  const ofCase = numbered.filter((cell) => cell.name === name).map((cell) => [cell.call.name, cell] as const);
  test.each(ofCase)('%s', async (_name, cell) => {
    const observed = await run.observed(cell.index);
    const { attempts } = observed.row;
    const where = JSON.stringify({
      body: observed.body.toString('latin1', 0, 300),
      attempts: attempts.map(({ provider, cause, failure, error }) => [provider, cause, failure, error]),
    });
    const { status, mostAsked } = expectedOf(cell);
    expect(observed.status, where).toBe(status);
    expectErrorShape(observed, where);
    expect(attempts.length, where).toBeLessThanOrEqual(mostAttempts);
    for (const [index, provider] of [`p${cell.index}`, `f${cell.index}`].entries()) {
      const count = attempts.filter((attempt) => attempt.provider === provider).length;
      expect(count, where).toBeGreaterThanOrEqual(Math.min(1, mostAsked[index] ?? 0));
      expect(count, where).toBeLessThanOrEqual(mostAsked[index] ?? 0);
    }
    expect(observed.row.outcome, where).toBe('error');
  });
});

/** A purchase ends with the first target that may have made what was asked for. */
function expectedOf({ call, primary, fallback, status, asked }: (typeof numbered)[number]) {
  const [atPrimary, atFallback] = asked;
  if (isPurchase(call) && mayHaveMade(primary)) return { status: 502, mostAsked: [1, 0] };
  if (isPurchase(call) && mayHaveMade(fallback)) return { status: 502, mostAsked: [atPrimary, 1] };
  return { status, mostAsked: [atPrimary, atFallback] };
}

function mayHaveMade(played: (typeof bothCases)[number]['primary']): boolean {
  return played !== refuses && !refusesBeforeWork(played[0].name);
}
