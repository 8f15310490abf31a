/**
 * No target gives an answer: the caller gets the most informative error in limited time, and no target is overloaded
 * with calls.
 *
 * @suite long
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { type Play, refusesBeforeWork } from '../../support/fault-upstream.ts';
import { isPurchase } from '../../support/openai-calls.ts';
import { type Cell, CellRun, callNamed, expectErrorShape, policy, refuses } from './cells.ts';

/** Cases in which both targets fail: whose answer the caller gets, and how often each target is called. */

interface BothCase {
  name: string;
  primary: Cell['primary'];
  fallback: NonNullable<Cell['fallback']>;
  /** The most informative answer. */
  status: number;
  /** Attempts at each target. Their total never exceeds the first attempt, the retries and the fallback. */
  asked: readonly [primary: number, fallback: number];
}

const { status, resetBeforeHeaders, htmlPage, rateLimit } = plays;
const silence: Play = { ...plays.silence, isSlow: true };
const stall: Play = { ...plays.stallAt({ bytes: 1 }), isSlow: true };
const overloaded = status(503);
const policyRefusal = status(400, { code: 'content_policy_violation' });

const pairOf = (
  primary: Play | typeof refuses,
  fallback: Play | typeof refuses,
  expected: Pick<BothCase, 'status' | 'asked'>,
): BothCase => {
  const name = (play: Play | typeof refuses) => (play === refuses ? refuses : play.name);
  const list = (play: Play | typeof refuses) => (play === refuses ? refuses : ([play] as const));
  return {
    name: `${name(primary)}, then ${name(fallback)}`,
    primary: list(primary),
    fallback: list(fallback),
    ...expected,
  };
};

const bothCases: readonly BothCase[] = [
  pairOf(refuses, refuses, { status: 502, asked: [3, 3] }),
  pairOf(resetBeforeHeaders, resetBeforeHeaders, { status: 502, asked: [3, 3] }),
  pairOf(overloaded, overloaded, { status: 503, asked: [3, 3] }),
  pairOf(overloaded, refuses, { status: 503, asked: [3, 3] }),
  pairOf(refuses, overloaded, { status: 503, asked: [3, 3] }),
  pairOf(overloaded, silence, { status: 503, asked: [3, 1] }),
  pairOf(silence, overloaded, { status: 503, asked: [1, 3] }),
  pairOf(silence, silence, { status: 504, asked: [1, 1] }),
  pairOf(overloaded, policyRefusal, { status: 400, asked: [3, 1] }),
  pairOf(silence, policyRefusal, { status: 400, asked: [1, 1] }),
  pairOf(rateLimit({ 'retry-after': '3600' }, '429'), overloaded, { status: 429, asked: [1, 3] }),
  pairOf(rateLimit({ 'retry-after': '3600' }, '429'), silence, { status: 429, asked: [1, 1] }),
  pairOf(status(401), silence, { status: 502, asked: [1, 1] }),
  pairOf(status(401), status(401), { status: 502, asked: [1, 1] }),
  pairOf(status(402), refuses, { status: 502, asked: [1, 3] }),
  pairOf(status(404, { code: 'model_not_found' }), status(404, { code: 'model_not_found' }), {
    status: 404,
    asked: [1, 1],
  }),
  pairOf(htmlPage, htmlPage, { status: 502, asked: [3, 3] }),
  pairOf(htmlPage, overloaded, { status: 503, asked: [3, 3] }),
  pairOf(stall, stall, { status: 504, asked: [1, 1] }),
];

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
