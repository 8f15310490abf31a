/**
 * The one attempt loop. Owns the course of a request's attempts: one after the other, or a second beside a slow one where
 * the group hedges or the slow one is on trial. Which comes next is `AttemptPlan`'s to say; what a reply looks like and how
 * it reaches the client is the attempt's own, which says afterwards only how it went.
 */
import { AwakeTimer } from '../awake-clock.ts';
import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord, FailureClass } from '../contract/ledger.ts';
import type { AttemptPlan, NextAttempt } from './attempt-plan.ts';
import type { AttemptResult, FailedAttempt, LastWord } from './attempt-result.ts';
import { moreTelling } from './last-word.ts';
import type { Picker } from './picker.ts';

/** An attempt under way. */
export interface RunningAttempt {
  result: Promise<AttemptResult>;
  record: AttemptRecord;
  /** Some of its answer has gone to the client. A method: a getter would make a hidden class for each attempt, which V8 keeps. */
  hasBegun(): boolean;
}

interface AttemptsInput {
  plan: AttemptPlan;
  picker: Picker;
  start(next: NextAttempt): RunningAttempt;
  /** Resolves when the client has left; asked for only where an attempt has to wait. */
  gone(): Promise<void>;
}

type Outcome =
  | { kind: 'answered' | 'given-up' }
  /** What the client is to be told, after the beginning of an answer or in place of one. */
  | { kind: 'unanswered'; lastWord: LastWord };

/** Throws GatewayError `no_healthy_provider` where there is nobody to ask. */
export async function runAttempts(input: AttemptsInput): Promise<Outcome> {
  const { plan } = input;
  let next = plan.first();
  if (!next) throw new GatewayError('no_healthy_provider', 'There is no provider to ask.');
  let told: FailedAttempt | null = null;
  while (next) {
    if (next.waitMs > 0 && !(await waited(next.waitMs, input.gone()))) return { kind: 'given-up' };
    const { ended, result, beside } = await ask(input, next);
    if (!isFailed(result)) return { kind: result.kind };
    if (beside) told = moreTelling(told, beside);
    told = moreTelling(told, result);
    if (result.kind === 'broken') plan.brokeOff(ended);
    next = told.kind === 'broken' ? plan.rescue(ended, result.failure) : plan.after(ended, result.failure);
  }
  if (!told) throw new Error('unreachable: the loop ended without a failure');
  return { kind: 'unanswered', lastWord: told.lastWord };
}

interface Ended {
  ended: NextAttempt;
  result: AttemptResult;
  /** Of two that ran beside one another, the other, if it failed too. */
  beside?: FailedAttempt;
}

function ask(input: AttemptsInput, next: NextAttempt): Promise<Ended> {
  const { hedgeAfterMs, isTrial } = input.plan.patienceWith(next);
  const first = begin(input, next, isTrial);
  return hedgeAfterMs === 0 ? first.ended : askBeside(input, first, hedgeAfterMs);
}

/** Another target too, where the first is silent for so long. */
async function askBeside(input: AttemptsInput, first: Begun, hedgeAfterMs: number): Promise<Ended> {
  if (!(await isSlow(first, hedgeAfterMs))) return first.ended;
  const further = input.plan.further('hedge');
  if (!further) return first.ended;
  const both = await Promise.all([first.ended, begin(input, further, false).ended]);
  // Once one of them has begun to answer, the other is given up.
  const taken = both.find(({ result }) => result.kind === 'answered' || result.kind === 'broken');
  if (taken) return taken;
  const [one, other] = both;
  if (!isFailed(one.result) || !isFailed(other.result)) return isFailed(one.result) ? one : other;
  input.plan.note(one.ended, one.result.failure);
  return { ...other, beside: one.result };
}

interface Begun {
  attempt: RunningAttempt;
  ended: Promise<Ended>;
}

function begin({ picker, start }: AttemptsInput, next: NextAttempt, isTrial: boolean): Begun {
  const { target } = next;
  const credentialId = next.credential?.id ?? null;
  picker.began(target, credentialId);
  const attempt = start(next);
  const report = (failure: FailureClass | null, retryAfterMs: number | null) =>
    picker.report({ target, credentialId, failure, firstByteMs: attempt.record.firstByteMs, retryAfterMs });
  const ended = attempt.result.then(
    (result) => {
      if (isFailed(result)) report(result.failure.class, result.failure.retryAfterMs);
      else if (result.kind === 'answered') report(result.failure, null);
      // On trial, one that another overtook was silent once more; else that says nothing about it.
      else report(isTrial && attempt.record.failure === null ? 'silent' : 'client-gone', null);
      return { ended: next, result };
    },
    (fault) => {
      report('client-gone', null);
      throw fault;
    },
  );
  return { attempt, ended };
}

/** Whether an attempt has neither ended nor begun to answer after this time. */
async function isSlow({ attempt, ended }: Begun, afterMs: number): Promise<boolean> {
  const hasEnded = await waited(afterMs, ended).then((isLate) => !isLate);
  return !hasEnded && !attempt.hasBegun();
}

/** False if `end` came first. */
async function waited(waitMs: number, end: Promise<unknown>): Promise<boolean> {
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
