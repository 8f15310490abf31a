/**
 * The attempt loop: runs a request's attempts one after the other, or a second one in parallel with a slow one (hedging,
 * trials). `AttemptPlan` decides which comes next; an attempt itself delivers its response and returns only its result.
 */

import type { Failure } from '../apis/core/failure.ts';
import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord, FailureClass } from '../contract/ledger.ts';
import { AwakeTimer } from '../ground/awake-clock.ts';
import type { AttemptPlan, NextAttempt } from './attempt-plan.ts';
import type { AttemptResult, FailedAttempt, FailureResponse } from './attempt-result.ts';
import { errorOfHeldBack, errorOfRefusal, moreUseful } from './failure-response.ts';
import type { Picker } from './picker.ts';

/** A running attempt. */
export interface RunningAttempt {
  result: Promise<AttemptResult>;
  record: AttemptRecord;
  /** Whether any of its answer has been sent. A method, since a getter on an object literal costs V8 a map for each attempt. */
  hasBegun(): boolean;
}

interface AttemptsInput {
  plan: AttemptPlan;
  picker: Picker;
  start(next: NextAttempt): RunningAttempt;
  /** Resolves when the client has disconnected; called only if an attempt has to wait. */
  gone(): Promise<void>;
}

type Outcome =
  | { kind: 'answered' | 'given-up' }
  /** The error to send, instead of an answer or after its beginning. */
  | { kind: 'unanswered'; failureResponse: FailureResponse };

/** @throws GatewayError `no_healthy_provider` if there is no target */
export async function runAttempts(input: AttemptsInput): Promise<Outcome> {
  const { plan } = input;
  let next = plan.first();
  if (!next) return unasked(plan);
  let mostUseful: FailedAttempt | null = null;
  while (next) {
    if (next.waitMs > 0 && !(await waitUnlessEnded(next.waitMs, input.gone()))) return { kind: 'given-up' };
    const { ended, result, beside: hedged } = await ask(input, next);
    if (!isFailed(result)) return { kind: result.kind };
    if (hedged) mostUseful = moreUseful(mostUseful, hedged);
    mostUseful = moreUseful(mostUseful, result);
    if (result.kind === 'broken') plan.streamInterrupted(ended);
    next = mostUseful.kind === 'broken' ? plan.rescue(ended, result.failure) : plan.after(ended, result.failure);
  }
  if (!mostUseful) throw new Error('unreachable: the loop ended without a failure');
  return { kind: 'unanswered', failureResponse: mostUseful.failureResponse };
}

/** Answers in place of a provider whose credentials were refused a moment ago, or that has asked to be left alone. */
function unasked({ refusal }: AttemptPlan): Outcome {
  if (!refusal) throw new GatewayError('no_healthy_provider', 'There is no provider to ask.');
  const { reason, target, waitMs } = refusal;
  const error = reason === 'limit' ? errorOfHeldBack(target, waitMs) : errorOfRefusal(target, waitMs);
  return { kind: 'unanswered', failureResponse: { kind: 'error', error } };
}

interface EndedAttempt {
  ended: NextAttempt;
  result: AttemptResult;
  /** The failure of the other attempt, if two ran in parallel and both failed. */
  beside?: FailedAttempt;
}

function ask(input: AttemptsInput, next: NextAttempt): Promise<EndedAttempt> {
  const { hedgeAfterMs, isTrial } = input.plan.hedgingFor(next);
  const first = begin(input, next, isTrial);
  return hedgeAfterMs === 0 ? first.ended : hedge(input, first, hedgeAfterMs);
}

/** Asks another target in parallel once the first has been silent for this long. */
async function hedge(input: AttemptsInput, first: StartedAttempt, hedgeAfterMs: number): Promise<EndedAttempt> {
  if (!(await isSlow(first, hedgeAfterMs))) return first.ended;
  const further = input.plan.anotherTarget('hedge');
  if (!further) return first.ended;
  const attempts = await Promise.all([first.ended, begin(input, further, false).ended]);
  // Once one of the two has begun to answer, the other is cancelled.
  const begun = attempts.find(({ result }) => result.kind === 'answered' || result.kind === 'broken');
  if (begun) return begun;
  const [one, other] = attempts;
  if (!isFailed(one.result) || !isFailed(other.result)) return isFailed(one.result) ? one : other;
  input.plan.note(one.ended, one.result.failure);
  return { ...other, beside: one.result };
}

interface StartedAttempt {
  attempt: RunningAttempt;
  ended: Promise<EndedAttempt>;
}

type FailureDetails = Pick<Failure, 'retryAfterMs' | 'isAnswer' | 'isDenied'>;
const noDetails: FailureDetails = { retryAfterMs: null };

function begin({ picker, start }: AttemptsInput, next: NextAttempt, isTrial: boolean): StartedAttempt {
  const { target } = next;
  const credentialId = next.credential?.id ?? null;
  picker.began(target, credentialId);
  const attempt = start(next);
  const report = (failure: FailureClass | null, details: FailureDetails = noDetails) => {
    const { retryAfterMs, isAnswer = false, isDenied = false } = details;
    const { firstByteMs } = attempt.record;
    picker.report({ target, credentialId, failure, isDenied, isAnswer, firstByteMs, retryAfterMs });
  };
  const ended = attempt.result.then(
    (result) => {
      if (isFailed(result)) report(aboutHealth(result.failure), result.failure);
      else if (result.kind === 'answered') report(result.failure);
      // A target on trial that was overtaken was silent again; otherwise being overtaken says nothing about its health.
      else report(isTrial && attempt.record.failure === null ? 'silent' : 'client-gone');
      return { ended: next, result };
    },
    (fault) => {
      report('client-gone');
      throw fault;
    },
  );
  return { attempt, ended };
}

/**
 * A missing permission for one kind of request, a wrong clock, a model that cannot write its call, or a connection that was
 * closed between two requests says nothing about the health of credential and target.
 */
function aboutHealth(failure: Failure): FailureClass {
  const { lacksOneRight, isClockCorrected, isMalformedCall, isStale } = failure;
  return lacksOneRight || isClockCorrected || isMalformedCall || isStale ? 'rejected' : failure.class;
}

/** Whether an attempt has neither ended nor begun to answer within this time. */
async function isSlow({ attempt, ended }: StartedAttempt, afterMs: number): Promise<boolean> {
  const hasEnded = await waitUnlessEnded(afterMs, ended).then((isLate) => !isLate);
  return !hasEnded && !attempt.hasBegun();
}

/** Waits; false if `end` settles first. */
async function waitUnlessEnded(waitMs: number, end: Promise<unknown>): Promise<boolean> {
  let timer: AwakeTimer | undefined;
  const passed = new Promise<true>((resolve) => {
    timer = new AwakeTimer(() => resolve(true), waitMs);
  });
  try {
    return await Promise.race([passed, end.then(() => false)]);
  } finally {
    timer?.clear();
  }
}

function isFailed(result: AttemptResult): result is FailedAttempt {
  return result.kind === 'failed' || result.kind === 'broken';
}
