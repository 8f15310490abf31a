/**
 * No target gives an answer: the caller gets the most informative error in limited time, and no target is overloaded
 * with calls.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bothCases } from './both-cases.ts';
import { CellRun, policy } from './cells.ts';
import { expectErrorShape } from './expect-error-shape.ts';
import { callNamed } from './pair.ts';

const asked = [
  'chat/completions',
  'chat/completions (stream)',
  'responses (stream)',
  'embeddings',
  'images/edits',
  'audio/transcriptions (stream)',
].map(callNamed);
const cells = bothCases.flatMap((both) => asked.map((call) => ({ ...both, call })));
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
    expect(observed.status, where).toBe(cell.status);
    expectErrorShape(observed, where);
    expect(attempts.length, where).toBeLessThanOrEqual(mostAttempts);
    for (const [index, provider] of [`p${cell.index}`, `f${cell.index}`].entries()) {
      const count = attempts.filter((attempt) => attempt.provider === provider).length;
      expect(count, where).toBeGreaterThanOrEqual(1);
      expect(count, where).toBeLessThanOrEqual(cell.asked[index] ?? 0);
    }
    expect(observed.row.outcome, where).toBe('error');
  });
});
