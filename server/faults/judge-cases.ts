/**
 * The cases of `sluice faults judge`: the faults that are injected for a client program one after the other, and how it
 * should react.
 */
import type { RequestView } from '../contract/request-views.ts';

/**
 * `answer`: another request is answered. `error`: none is. `either`: the answer is complete, but the program may reject
 * it.
 */
type Expected = 'answer' | 'error' | 'either';

export interface JudgeCase {
  name: string;
  rules: readonly string[];
  expects: Expected;
  /** The wait that the first response asks for. */
  retryAfterSeconds?: number;
}

const once = (name: string, ...rules: string[]): JudgeCase => ({ name, rules, expects: 'answer' });
const lasting = (name: string, rule: string): JudgeCase => ({ name, rules: [rule], expects: 'error' });

/** A program that fails in this case cannot be judged. */
export const noFault = once('no fault');

export const judgeCases: readonly JudgeCase[] = [
  { ...once('rate limit, wait told', 'rate-limit;retry-after=1;first=1'), retryAfterSeconds: 1 },
  once('rate limit, no wait told', 'rate-limit;first=1'),
  lasting('rate limit for good', 'rate-limit'),
  lasting('quota spent', 'quota'),
  once('overloaded once', 'overloaded;first=1'),
  once('outage once', 'status;code=503;first=1'),
  lasting('outage for good', 'status;code=503'),
  once('flapping', 'status;code=503;nth=1', 'reset;nth=2', 'rate-limit;retry-after=1;nth=4'),
  once('connection reset once', 'reset;first=1'),
  once('silence once', 'silence;seconds=10;first=1'),
  once('late first token', 'late-event;ms=5000;first=1'),
  once('cut answer once', 'cut;after=3;first=1'),
  once('stalled answer once', 'stall;after=3;seconds=10;first=1'),
  once('damaged event once', 'malformed-event;after=2;first=1'),
  once('missing end once', 'missing-end;first=1'),
  once('error in a stream once', 'error-event;after=2;first=1'),
  once('HTML page once', 'html;first=1'),
  lasting('context overflow', 'context-overflow'),
  { name: 'filtered content', rules: ['filtered'], expects: 'either' },
];

/** Faults despite which the client still receives its answer. */
const harmless = new Set(['late-head', 'late-event', 'pace', 'huge-event', 'usage', 'wrong-type', 'filtered']);

type Asked = Pick<RequestView, 'outcome' | 'fault' | 'stream'>;

/** Whether the client received a whole answer to this request. */
export function wasAnswered({ outcome, fault, stream }: Asked): boolean {
  if (outcome !== 'ok') return false;
  // In streams, the complete event follows the damaged one.
  const isHarmless = (name: string) => harmless.has(name) || (stream && name === 'malformed-event');
  return fault === null || fault.split(', ').every(isHarmless);
}

export interface JudgedRun {
  exitCode: number;
  /** Whether it was killed because its time was over. */
  wasKilled: boolean;
  /** Whether it received a whole answer. */
  answered: boolean;
  /** Time from its first answer to its second request; null if it made only one. */
  pauseMs: number | null;
}

/**
 * `ok`: it got its answer, or ended with an error where there was none to get. `gave up`: it ended with an error
 * although another request would have been answered. `not noticed`: it ended with 0 without a whole answer. `too
 * early`: it got its answer, but retried before the requested wait was over. `hung`: it had to be killed.
 */
export type Result = 'ok' | 'gave up' | 'not noticed' | 'too early' | 'hung';

/** Clocks and programs round durations. */
const tolerance = 0.9;

export function resultOf({ expects, retryAfterSeconds }: JudgeCase, run: JudgedRun): Result {
  const { exitCode, wasKilled, answered, pauseMs } = run;
  if (wasKilled) return 'hung';
  if (exitCode !== 0) return expects === 'answer' ? 'gave up' : 'ok';
  if (!answered) return 'not noticed';
  const isEarly = retryAfterSeconds !== undefined && pauseMs !== null && pauseMs < retryAfterSeconds * 1000 * tolerance;
  return isEarly ? 'too early' : 'ok';
}
