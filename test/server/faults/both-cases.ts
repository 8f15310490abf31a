/** Cases in which both targets fail: whose answer the caller gets, and how often each target is called. */

import * as plays from '../../support/fault-plays.ts';
import type { Play } from '../../support/fault-upstream.ts';
import type { Cell } from './cells.ts';
import { refuses } from './cells.ts';

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

export const bothCases: readonly BothCase[] = [
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
